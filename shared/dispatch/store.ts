import { and, asc, count, eq, gt, inArray, isNotNull, isNull, ne, or, sql } from "drizzle-orm";
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

/** Locks the queue against a pause. False if it is paused or deleted. */
export async function lockQueueIfDispatching(tx: Tx, queueId: string): Promise<boolean> {
  const { queues } = tx.tables;
  const isDispatching = and(
    eq(queues.id, queueId),
    isNull(queues.dispatchPausedAt),
    isNull(queues.deletedAt),
  );
  return (await tx.lock(queues, isDispatching, "exclusive")).length > 0;
}

export async function findOldestWaitingJob(tx: Tx, queueId: string) {
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

/** Locks builds. Call before changing their jobs, as a cancel does: the other order deadlocks. */
export async function lockBuilds(tx: Tx, buildIds: string[]) {
  const { builds } = tx.tables;
  return tx.lock(builds, inArray(builds.id, buildIds), "exclusive");
}

/** Waiting jobs after an id whose mark differs from the queue's pause. */
export async function listOutdatedJobs(tx: Tx, queue: Queue, afterId: string | undefined, limit: number) {
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

/** Returns the builds of the jobs that still wait. */
export async function setPauseIfWaiting(tx: Tx, jobIds: string[], pausedAt: Date | null): Promise<string[]> {
  const { jobs } = tx.tables;
  const changed = await tx
    .update(jobs)
    .set({ dispatchPausedAt: pausedAt })
    .where(and(inArray(jobs.id, jobIds), eq(jobs.state, "scheduled")))
    .returning({ buildId: jobs.buildId });
  return changed.map(({ buildId }) => buildId);
}

export async function setPausedQueueIfNone(tx: Tx, buildIds: string[], queueId: string): Promise<void> {
  const { builds } = tx.tables;
  await tx
    .update(builds)
    .set({ pausedQueueId: queueId })
    .where(and(inArray(builds.id, buildIds), isNull(builds.pausedQueueId)));
}

/** Clears the mark of this queue. Another paused queue of a waiting job takes its place. */
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
  for (const [otherId, jobsOfOther] of Map.groupBy(others, (other) => other.queueId)) {
    const otherBuildIds = jobsOfOther.map(({ buildId }) => buildId);
    await setPausedQueueIfNone(tx, otherBuildIds, otherId);
  }
}

/** Call after changing which jobs of the builds wait or are marked. */
export async function refreshIsPaused(tx: Tx, buildIds: string[]): Promise<void> {
  const { builds, jobs } = tx.tables;
  const waiting = tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.buildId, builds.id), eq(jobs.state, "scheduled"), isNull(jobs.dispatchPausedAt)));
  await tx
    .update(builds)
    .set({ isPaused: sql`${builds.pausedQueueId} is not null and not exists ${waiting}` })
    .where(inArray(builds.id, buildIds));
}

/** Counts waiting and running jobs of each queue, up to a limit. */
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
 * Builds that wait for a paused queue, oldest first.
 * @returns more: how many builds follow; isAll: false if it stopped at `maxJobs`
 */
export async function listPausedBuilds(
  db: Db,
  queueId: string,
  { limit, maxJobs }: { limit: number; maxJobs: number },
) {
  const { jobs, builds, pipelines } = db.tables;
  const paused = await db
    .select({ id: jobs.buildId })
    .from(jobs)
    .where(and(eq(jobs.queueId, queueId), isNotNull(jobs.dispatchPausedAt)))
    .orderBy(asc(jobs.id))
    .limit(maxJobs);
  const ids = [...new Set(paused.map(({ id }) => id))];
  const listed = await db
    .select({ build: builds, pipeline: pipelines })
    .from(builds)
    .innerJoin(pipelines, eq(pipelines.id, builds.pipelineId))
    .where(inArray(builds.id, ids.slice(0, limit)))
    .orderBy(asc(builds.id));
  return { builds: listed, more: Math.max(0, ids.length - limit), isAll: paused.length < maxJobs };
}

/** Queues that are paused, or have marked jobs. */
export async function listQueuesToFanOut(db: Db): Promise<string[]> {
  const { queues, jobs } = db.tables;
  const paused = await db
    .select({ id: queues.id })
    .from(queues)
    .where(and(isNotNull(queues.dispatchPausedAt), isNull(queues.deletedAt)));
  const ids = new Set(paused.map(({ id }) => id));
  // Skips from queue to queue: one may have a million marked jobs.
  for (let after: string | undefined; ; ) {
    const [marked] = await db
      .select({ id: jobs.queueId })
      .from(jobs)
      .where(and(isNotNull(jobs.dispatchPausedAt), after ? gt(jobs.queueId, after) : undefined))
      .orderBy(asc(jobs.queueId))
      .limit(1);
    if (!marked) return [...ids];
    ids.add(marked.id);
    after = marked.id;
  }
}
