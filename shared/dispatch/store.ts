import { and, asc, count, eq, gt, inArray, isNotNull, isNull, ne, or } from "drizzle-orm";
import type { Job } from "../builds/store.ts";
import type { Db, Tx } from "../db/database.ts";
import type { Queue } from "../queues/store.ts";
import type { JobState } from "../vocabulary.ts";

/** running → paused. Of simultaneous pauses, exactly one gets the row. */
export async function pauseIfRunning(
  tx: Tx,
  id: string,
  { userId, note, now }: { userId: string; note: string | null; now: Date },
): Promise<Queue | undefined> {
  const { queues } = tx.tables;
  const [paused] = await tx
    .update(queues)
    .set({ dispatchPausedAt: now, dispatchPausedById: userId, dispatchPausedNote: note })
    .where(and(eq(queues.id, id), isNull(queues.dispatchPausedAt), isNull(queues.deletedAt)))
    .returning();
  return paused;
}

/** paused → running. */
export async function resumeIfPaused(tx: Tx, id: string): Promise<Queue | undefined> {
  const { queues } = tx.tables;
  const [resumed] = await tx
    .update(queues)
    .set({ dispatchPausedAt: null, dispatchPausedById: null, dispatchPausedNote: null })
    .where(and(eq(queues.id, id), isNotNull(queues.dispatchPausedAt), isNull(queues.deletedAt)))
    .returning();
  return resumed;
}

/** Locks the queue, so that no pause comes in between. False if the queue is paused or deleted. */
export async function lockQueueIfDispatching(tx: Tx, queueId: string): Promise<boolean> {
  const { queues } = tx.tables;
  await tx.lock(queues, eq(queues.id, queueId), "exclusive");
  const locked = await tx
    .select({ id: queues.id })
    .from(queues)
    .where(and(eq(queues.id, queueId), isNull(queues.dispatchPausedAt), isNull(queues.deletedAt)));
  return locked.length > 0;
}

/** The job that has waited longest on a queue. */
export async function findOldestWaiting(tx: Tx, queueId: string) {
  const { jobs } = tx.tables;
  const [oldest] = await tx
    .select({ id: jobs.id, buildId: jobs.buildId })
    .from(jobs)
    .where(and(eq(jobs.queueId, queueId), eq(jobs.state, "scheduled")))
    .orderBy(asc(jobs.id))
    .limit(1);
  return oldest;
}

/** scheduled → assigned. */
export async function assignIfWaiting(tx: Tx, id: string, now: Date): Promise<Job | undefined> {
  const { jobs } = tx.tables;
  const [assigned] = await tx
    .update(jobs)
    .set({ state: "assigned", assignedAt: now, dispatchPausedAt: null })
    .where(and(eq(jobs.id, id), eq(jobs.state, "scheduled")))
    .returning();
  return assigned;
}

/**
 * Locks builds: their paused queue changes in one transaction at a time. Lock builds before their jobs, as a cancel
 * does: the other order deadlocks.
 */
export async function lockBuilds(tx: Tx, buildIds: string[]) {
  const { builds } = tx.tables;
  await tx.lock(builds, inArray(builds.id, buildIds), "exclusive");
  return tx
    .select({ id: builds.id, pausedQueueId: builds.pausedQueueId })
    .from(builds)
    .where(inArray(builds.id, buildIds));
}

/** Waiting jobs of a queue that do not carry its present pause, or one that has ended: the next after an id. */
export async function listUnmatchedJobs(tx: Tx, queue: Queue, afterId: string | undefined, limit: number) {
  const { jobs } = tx.tables;
  const { dispatchPausedAt } = queue;
  return tx
    .select({ id: jobs.id, buildId: jobs.buildId })
    .from(jobs)
    .where(
      and(
        eq(jobs.queueId, queue.id),
        eq(jobs.state, "scheduled"),
        afterId ? gt(jobs.id, afterId) : undefined,
        dispatchPausedAt === null
          ? isNotNull(jobs.dispatchPausedAt)
          : or(isNull(jobs.dispatchPausedAt), ne(jobs.dispatchPausedAt, dispatchPausedAt)),
      ),
    )
    .orderBy(asc(jobs.id))
    .limit(limit);
}

/** Returns the builds of those that still waited. */
export async function setPauseIfWaiting(tx: Tx, jobIds: string[], pausedAt: Date | null): Promise<string[]> {
  const { jobs } = tx.tables;
  const changed = await tx
    .update(jobs)
    .set({ dispatchPausedAt: pausedAt })
    .where(and(inArray(jobs.id, jobIds), eq(jobs.state, "scheduled")))
    .returning({ buildId: jobs.buildId });
  return changed.map(({ buildId }) => buildId);
}

/** Builds that no pause holds back yet. */
export async function setPausedQueue(tx: Tx, buildIds: string[], queueId: string): Promise<void> {
  const { builds } = tx.tables;
  await tx
    .update(builds)
    .set({ pausedQueueId: queueId })
    .where(and(inArray(builds.id, buildIds), isNull(builds.pausedQueueId)));
}

/** Builds that this queue held back go on, or are held back by another one that a job of theirs waits on. */
export async function clearPausedQueue(tx: Tx, buildIds: string[], queueId: string): Promise<void> {
  const { builds, jobs } = tx.tables;
  const others = await tx
    .select({ buildId: jobs.buildId, queueId: jobs.queueId })
    .from(jobs)
    .where(
      and(inArray(jobs.buildId, buildIds), eq(jobs.state, "scheduled"), isNotNull(jobs.dispatchPausedAt)),
    );
  await tx
    .update(builds)
    .set({ pausedQueueId: null })
    .where(and(inArray(builds.id, buildIds), eq(builds.pausedQueueId, queueId)));
  for (const [otherId, held] of Map.groupBy(others, (other) => other.queueId))
    await setPausedQueue(
      tx,
      held.map(({ buildId }) => buildId),
      otherId,
    );
}

/** How many jobs wait on each of these queues, and how many run, each up to a limit: nobody reads further. */
export async function countJobsOfQueues(
  db: Db,
  queueIds: string[],
  limit: number,
): Promise<Map<string, { waiting: number; running: number }>> {
  const { jobs } = db.tables;
  const countIn = async (queueId: string, states: JobState[]) => {
    const rows = db
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(eq(jobs.queueId, queueId), inArray(jobs.state, states)))
      .limit(limit)
      .as("some_jobs");
    const [row] = await db.select({ total: count() }).from(rows);
    return row?.total ?? 0;
  };
  const counts = await Promise.all(
    queueIds.map(async (id) => {
      const waiting = await countIn(id, ["scheduled"]);
      return [id, { waiting, running: await countIn(id, ["assigned", "running"]) }] as const;
    }),
  );
  return new Map(counts);
}

/**
 * Builds that a paused queue holds back, the oldest first, and how many there are besides.
 * @param maxJobs of how many of its jobs they are counted
 * @returns isAll: whether no job was left out of the counting
 */
export async function listPausedBuilds(
  db: Db,
  queueId: string,
  { limit, maxJobs }: { limit: number; maxJobs: number },
) {
  const { jobs, builds, pipelines } = db.tables;
  const held = await db
    .select({ id: jobs.buildId })
    .from(jobs)
    .where(and(eq(jobs.queueId, queueId), isNotNull(jobs.dispatchPausedAt)))
    .orderBy(asc(jobs.id))
    .limit(maxJobs);
  const ids = [...new Set(held.map(({ id }) => id))];
  const listed = await db
    .select({ build: builds, pipeline: pipelines })
    .from(builds)
    .innerJoin(pipelines, eq(pipelines.id, builds.pipelineId))
    .where(inArray(builds.id, ids.slice(0, limit)))
    .orderBy(asc(builds.id));
  return { builds: listed, more: Math.max(0, ids.length - limit), isAll: held.length < maxJobs };
}

/** Queues that are paused, or have jobs that still carry a pause: where a fan-out may have something to do. */
export async function listQueuesToMatch(db: Db): Promise<string[]> {
  const { queues, jobs } = db.tables;
  const paused = await db
    .select({ id: queues.id })
    .from(queues)
    .where(and(isNotNull(queues.dispatchPausedAt), isNull(queues.deletedAt)));
  const marked = await db
    .select({ id: jobs.queueId })
    .from(jobs)
    .where(isNotNull(jobs.dispatchPausedAt))
    .groupBy(jobs.queueId);
  return [...new Set([...paused, ...marked].map(({ id }) => id))];
}
