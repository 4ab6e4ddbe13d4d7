import { and, eq, inArray, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import type { Tx } from "../../db/database.ts";
import { isOneOf, prepared } from "../../db/prepared.ts";
import type { JobState } from "../../vocabulary.ts";

// A job that waits on a paused queue is marked with the time of the pause, and its build says so. The statement that
// schedules a job reads the queue. A pause or resume that commits meanwhile has a fan-out, which corrects the marks.

interface MarkedJob {
  buildId: string;
  dispatchPausedAt: Date | null;
}

interface NewJob extends MarkedJob {
  state: JobState;
  queueId: string | null;
  options: { concurrency_group?: string } | null;
}

/** The pause of a job's queue: the mark for a statement that schedules the job. */
export function pauseOfQueue(tx: Tx): SQL {
  const { jobs, queues } = tx.tables;
  const ofQueue = tx
    .select({ pausedAt: queues.dispatchPausedAt })
    .from(queues)
    .where(eq(queues.id, jobs.queueId));
  return sql`${ofQueue}`;
}

const listPauses = prepared<{ ids: string[] }, { id: string; pausedAt: Date | null }, Tx>((tx) => {
  const { queues } = tx.tables;
  return tx
    .select({ id: queues.id, pausedAt: queues.dispatchPausedAt })
    .from(queues)
    .where(and(isOneOf(queues.id, "ids"), isNotNull(queues.dispatchPausedAt)));
});

/** Marks new jobs. Those of concurrency groups are scheduled later. */
export async function withPauses<Any extends NewJob>(tx: Tx, jobs: Any[]): Promise<Any[]> {
  const scheduled = jobs.filter(
    ({ state, options }) => state === "scheduled" && options?.concurrency_group === undefined,
  );
  const ids = [...new Set(scheduled.flatMap(({ queueId }) => queueId ?? []))];
  const pauses = new Map(
    ids.length > 0 ? (await listPauses(tx, { ids })).map(({ id, pausedAt }) => [id, pausedAt]) : [],
  );
  if (pauses.size === 0) return jobs;
  const marked = new Set(scheduled);
  return jobs.map((job) =>
    marked.has(job) ? { ...job, dispatchPausedAt: pauses.get(job.queueId ?? "") ?? null } : job,
  );
}

/** Like `refreshPauses`, for the builds of those jobs that are marked. */
export async function refreshPausesOf(tx: Tx, jobs: MarkedJob[]): Promise<void> {
  const marked = jobs.filter(({ dispatchPausedAt }) => dispatchPausedAt !== null);
  if (marked.length > 0) await refreshPauses(tx, [...new Set(marked.map(({ buildId }) => buildId))]);
}

/**
 * Brings the pauses of builds into line with their jobs: which paused queue a waiting job is on, and whether all of
 * them are on one. Call it with the builds locked, after changing which of their jobs wait or are marked.
 */
export async function refreshPauses(tx: Tx, buildIds: string[]): Promise<void> {
  const { builds, jobs } = tx.tables;
  // With `exists`, Postgres reads all waiting jobs of the installation.
  const first = (column: typeof jobs.id | typeof jobs.queueId, mark: SQL) =>
    tx
      .select({ column })
      .from(jobs)
      .where(and(eq(jobs.buildId, builds.id), eq(jobs.state, "scheduled"), mark))
      .orderBy(jobs.position)
      .limit(1);
  const isMarked = isNotNull(jobs.dispatchPausedAt);
  const isUnmarked = isNull(jobs.dispatchPausedAt);
  await tx
    .update(builds)
    .set({
      pausedQueueId: sql`${first(jobs.queueId, isMarked)}`,
      isPaused: sql`${first(jobs.id, isMarked)} is not null and ${first(jobs.id, isUnmarked)} is null`,
    })
    .where(inArray(builds.id, buildIds));
}
