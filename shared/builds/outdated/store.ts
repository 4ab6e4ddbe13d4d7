import { and, asc, eq, gt, inArray, isNotNull, isNull, lt } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { hasText } from "../../db/schema/builds.ts";
import { type BuildState, unfinishedJobStates } from "../../vocabulary.ts";
import type { Build } from "../rows/build-store.ts";
import { factColumns, type JobFacts } from "../rows/job-store.ts";

export interface OlderBuilds extends Pick<Build, "pipelineId" | "branch"> {
  state: BuildState;
  /** Numbers, both excluded. */
  after: number;
  below: number;
}

/** Builds of a branch in the order of their numbers. */
export async function listOlderOfBranch(
  db: Db,
  { pipelineId, branch, state, after, below }: OlderBuilds,
  limit: number,
): Promise<Pick<Build, "id" | "number">[]> {
  const { builds } = db.tables;
  const isOfBranch = and(eq(builds.pipelineId, pipelineId), hasText(builds.branch, branch));
  return db
    .select({ id: builds.id, number: builds.number })
    .from(builds)
    .where(and(isOfBranch, eq(builds.state, state), gt(builds.number, after), lt(builds.number, below)))
    .orderBy(asc(builds.number))
    .limit(limit);
}

/** Says if an agent has accepted a job of the build and not ended it. */
export async function hasAcceptedJob(tx: Tx, buildId: string): Promise<boolean> {
  const { jobs } = tx.tables;
  const found = await tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(
      and(eq(jobs.buildId, buildId), inArray(jobs.state, unfinishedJobStates), isNotNull(jobs.acceptedAt)),
    )
    .limit(1);
  return found.length > 0;
}

/** Jobs that no agent has accepted → skipped. @returns the changed jobs */
export async function skipJobsIfUnaccepted(tx: Tx, buildId: string, now: Date): Promise<JobFacts[]> {
  const { jobs } = tx.tables;
  return tx
    .update(jobs)
    .set({ state: "skipped", finishedAt: now, dispatchPausedAt: null, unblockable: false })
    .where(and(eq(jobs.buildId, buildId), inArray(jobs.state, unfinishedJobStates), isNull(jobs.acceptedAt)))
    .returning(factColumns(tx));
}
