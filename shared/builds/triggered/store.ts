import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import type { Db, Reader, Tx } from "../../db/database.ts";
import { countUpTo } from "../../db/list-page.ts";
import { findBy, preparedRow } from "../../db/prepared.ts";
import type { JobState } from "../../vocabulary.ts";
import type { Build } from "../rows/build-store.ts";
import { isTrueByStep, type JobFacts } from "../rows/job-store.ts";

/** The build that a job of a trigger step made. */
export const findTriggeredBuild = findBy<Build>(({ builds }) => builds.triggeredByJobId);

export const findBuildById = findBy<Build>(({ builds }) => builds.id);

/** The build of a job, as far as it is needed to lock it. */
export const findBuildOfJobById = preparedRow<
  { jobId: string },
  Pick<Build, "id" | "organizationId" | "rootBuildId">,
  Db | Tx
>((db) => {
  const { builds, jobs } = db.tables;
  return db
    .select({ id: builds.id, organizationId: builds.organizationId, rootBuildId: builds.rootBuildId })
    .from(jobs)
    .innerJoin(builds, eq(builds.id, jobs.buildId))
    .where(eq(jobs.id, sql.placeholder("jobId")));
});

/** Counts the builds that trigger steps made from one first build, up to a limit. */
export function countBuildsOfRoot(tx: Tx, rootId: string, limit: number): Promise<number> {
  const { builds } = tx.tables;
  return countUpTo(tx, builds, eq(builds.rootBuildId, rootId), limit);
}

/** A build as the step that made it names it. */
export interface NamedBuild extends Pick<Build, "id" | "number" | "state"> {
  pipeline: { slug: string; name: string };
}

/** The builds that jobs of trigger steps made, by the id of the job. Leaves out those of deleted pipelines. */
export async function listTriggeredBuilds(db: Reader, jobIds: string[]): Promise<Map<string, NamedBuild>> {
  const { builds, pipelines } = db.tables;
  if (jobIds.length === 0) return new Map();
  const rows = await db
    .select({
      jobId: builds.triggeredByJobId,
      build: { id: builds.id, number: builds.number, state: builds.state },
      pipeline: { slug: pipelines.slug, name: pipelines.name },
    })
    .from(builds)
    .innerJoin(pipelines, eq(pipelines.id, builds.pipelineId))
    .where(and(inArray(builds.triggeredByJobId, jobIds), isNull(pipelines.deletedAt)));
  return new Map(rows.map(({ jobId, build, pipeline }) => [jobId ?? "", { ...build, pipeline }]));
}

/** One state → another, of the job of a trigger step. Its failure is soft if the step says so. */
export async function moveTriggerIfStill(
  tx: Tx,
  { id, state: from, startedAt }: Pick<JobFacts, "id" | "state" | "startedAt">,
  { state, reason = null }: { state: JobState; reason?: string | null },
): Promise<boolean> {
  const { jobs } = tx.tables;
  const isFailure = state === "failed" || state === "canceled";
  const moved = await tx
    .update(jobs)
    .set({
      state,
      failureReason: reason,
      softFailed: isFailure ? isTrueByStep(tx, "soft_fail") : false,
      startedAt: startedAt ?? tx.now,
      finishedAt: state === "running" ? null : tx.now,
    })
    .where(and(eq(jobs.id, id), eq(jobs.state, from)))
    .returning({ id: jobs.id });
  return moved.length > 0;
}
