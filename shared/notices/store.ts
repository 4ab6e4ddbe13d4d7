import { and, asc, eq, gt, inArray, isNotNull, or, sql } from "drizzle-orm";
import type { Build } from "../builds/rows/build-store.ts";
import { type Job, selectJobs, wholeJob } from "../builds/rows/job-store.ts";
import type { Db, Tx } from "../db/database.ts";
import { isOneOf, prepared } from "../db/prepared.ts";
import { finishedBuildStates, type Notice } from "../vocabulary.ts";

/** The facts that decide whose build it is. */
export type EndedBuild = Pick<Build, "id" | "state" | "creatorId" | "author" | "options">;

/** Finds the builds that have notices of their own or of their steps, by id. */
export async function listBuildsWithNotices(tx: Tx, ids: string[]): Promise<Map<string, Build>> {
  const found = ids.length === 0 ? [] : await selectWithNotices(tx, { ids });
  return new Map(found.map((build) => [build.id, build]));
}

const selectWithNotices = prepared<{ ids: string[] }, Build, Tx>((tx) => {
  const { builds } = tx.tables;
  return tx
    .select()
    .from(builds)
    .where(and(isOneOf(builds.id, "ids"), or(isNotNull(builds.notify), eq(builds.tellsOfJobs, true))));
});

export async function listEndedBuilds(tx: Tx, ids: string[]): Promise<Map<string, EndedBuild>> {
  const { builds } = tx.tables;
  if (ids.length === 0) return new Map();
  const { id, state, creatorId, author, options } = builds;
  const found = await tx
    .select({ id, state, creatorId, author, options })
    .from(builds)
    .where(and(inArray(id, ids), inArray(state, finishedBuildStates)));
  return new Map(found.map((build) => [build.id, build]));
}

export async function findJobById(db: Db, id: string): Promise<Job | undefined> {
  const [found] = await selectJobs(db).where(eq(db.tables.jobs.id, id));
  return found && wholeJob(found);
}

/** The notices of a group, which its first job has: ids rise, and its own comes just before. */
export async function findNoticesOfGroup(
  tx: Tx,
  { buildId, groupId }: { buildId: string; groupId: string },
): Promise<Notice[]> {
  const { jobs } = tx.tables;
  const [first] = await tx
    .select({ options: jobs.ownOptions })
    .from(jobs)
    .where(and(eq(jobs.buildId, buildId), gt(jobs.id, groupId)))
    .orderBy(asc(jobs.id))
    .limit(1);
  const group = first?.options?.group;
  return (group?.id === groupId && group.notify) || [];
}

export async function listJobsOfGroup(
  db: Db | Tx,
  { buildId, groupId }: { buildId: string; groupId: string },
): Promise<Job[]> {
  const { jobs } = db.tables;
  const steps = await db
    .select({ id: jobs.stepId })
    .from(jobs)
    .where(
      and(
        eq(jobs.buildId, buildId),
        eq(jobs.id, jobs.stepId),
        sql`${jobs.ownOptions} -> 'group' ->> 'id' = ${groupId}`,
      ),
    );
  if (steps.length === 0) return [];
  const found = await selectJobs(db)
    .where(
      and(
        eq(jobs.buildId, buildId),
        inArray(
          jobs.stepId,
          steps.map(({ id }) => id),
        ),
      ),
    )
    .orderBy(asc(jobs.id));
  return found.map(wholeJob);
}
