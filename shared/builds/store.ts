import { and, asc, eq, inArray, lt, or } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import type { Tables } from "../db/schema.ts";
import { finishedBuildStates, unfinishedBuildStates, unfinishedJobStates } from "../vocabulary.ts";

export type Build = Tables["builds"]["$inferSelect"];
export type Job = Tables["jobs"]["$inferSelect"];

/** The last builds by pipeline id. */
export async function listLastBuilds(
  db: Db,
  pipelines: { id: string; lastBuildNumber: number }[],
): Promise<Map<string, Build>> {
  const { builds } = db.tables;
  if (pipelines.length === 0) return new Map();
  const isLast = pipelines.map(({ id, lastBuildNumber }) =>
    and(eq(builds.pipelineId, id), eq(builds.number, lastBuildNumber)),
  );
  const found = await db
    .select()
    .from(builds)
    .where(or(...isLast));
  return new Map(found.map((build) => [build.pipelineId, build]));
}

export async function findBuild(db: Db, pipelineId: string, number: number): Promise<Build | undefined> {
  const { builds } = db.tables;
  const [found] = await db
    .select()
    .from(builds)
    .where(and(eq(builds.pipelineId, pipelineId), eq(builds.number, number)));
  return found;
}

export async function listBuildsOfDeliveries(db: Db | Tx, deliveryIds: string[]): Promise<Build[]> {
  const { builds } = db.tables;
  if (deliveryIds.length === 0) return [];
  return db.select().from(builds).where(inArray(builds.deliveryId, deliveryIds)).orderBy(asc(builds.number));
}

export async function listJobs(db: Db, buildIds: string[]) {
  const { jobs, queues } = db.tables;
  if (buildIds.length === 0) return [];
  return db
    .select({ job: jobs, queue: { id: queues.id, key: queues.key, clusterId: queues.clusterId } })
    .from(jobs)
    .innerJoin(queues, eq(queues.id, jobs.queueId))
    .where(inArray(jobs.buildId, buildIds))
    .orderBy(asc(jobs.id));
}

/** scheduled, running → canceled. */
export async function cancelBuildIfUnfinished(tx: Tx, id: string, now: Date): Promise<Build | undefined> {
  const { builds } = tx.tables;
  const [canceled] = await tx
    .update(builds)
    .set({ state: "canceled", finishedAt: now, pausedQueueId: null, isPaused: false })
    .where(and(eq(builds.id, id), inArray(builds.state, unfinishedBuildStates)))
    .returning();
  return canceled;
}

/** scheduled, assigned, running → canceled. */
export async function cancelUnfinishedJobs(tx: Tx, buildId: string, now: Date): Promise<void> {
  const { jobs } = tx.tables;
  await tx
    .update(jobs)
    .set({ state: "canceled", finishedAt: now, dispatchPausedAt: null })
    .where(and(eq(jobs.buildId, buildId), inArray(jobs.state, unfinishedJobStates)));
}

export async function deleteBuildsOfPipelines(tx: Tx, pipelineIds: string[], limit: number): Promise<number> {
  const { builds } = tx.tables;
  if (pipelineIds.length === 0) return 0;
  const some = tx
    .select({ id: builds.id })
    .from(builds)
    .where(inArray(builds.pipelineId, pipelineIds))
    .orderBy(asc(builds.pipelineId), asc(builds.number)) // else Postgres looks for them through the whole table
    .limit(limit);
  const deleted = await tx.delete(builds).where(inArray(builds.id, some)).returning({ id: builds.id });
  return deleted.length;
}

/** Deletes their jobs and meta-data by cascade. Returns how many builds it deleted. */
export async function deleteBuildsFinishedBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { builds } = tx.tables;
  const old = tx
    .select({ id: builds.id })
    .from(builds)
    .where(and(inArray(builds.state, finishedBuildStates), lt(builds.finishedAt, time)))
    .limit(limit);
  const deleted = await tx.delete(builds).where(inArray(builds.id, old)).returning({ id: builds.id });
  return deleted.length;
}
