import { and, asc, eq, gt, inArray, isNotNull, isNull, lt, lte, not, type SQL, sql } from "drizzle-orm";
import { countOf } from "../db/columns.ts";
import type { Db, Tx } from "../db/database.ts";
import { preparedRow } from "../db/prepared.ts";
import type { Queue } from "../queues/store.ts";
import { type JobState, takenJobStates } from "../vocabulary.ts";

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

/** Locks the queue against a pause. Undefined if it is paused or deleted. */
export const lockQueueIfDispatching = preparedRow<{ id: string }, Queue, Tx>((tx) => {
  const { queues } = tx.tables;
  const isDispatching = and(
    eq(queues.id, sql.placeholder("id")),
    isNull(queues.dispatchPausedAt),
    isNull(queues.deletedAt),
  );
  return tx.lock(queues, isDispatching, "exclusive");
});

/**
 * Finds a mark of the queue's waiting jobs that differs from its pause. Null is the mark of jobs without one.
 * @returns undefined if all marks agree
 */
export async function findOutdatedMark(
  db: Db | Tx,
  { id, dispatchPausedAt }: Pick<Queue, "id" | "dispatchPausedAt">,
): Promise<{ mark: Date | null } | undefined> {
  const { jobs } = db.tables;
  const differences = dispatchPausedAt
    ? [
        isNull(jobs.dispatchPausedAt),
        lt(jobs.dispatchPausedAt, dispatchPausedAt),
        gt(jobs.dispatchPausedAt, dispatchPausedAt),
      ]
    : [isNotNull(jobs.dispatchPausedAt)];
  for (const differs of differences) {
    const [outdated] = await db
      .select({ mark: jobs.dispatchPausedAt })
      .from(jobs)
      .where(and(eq(jobs.queueId, id), isScheduled(jobs), differs))
      .orderBy(...orderOfArrival(jobs))
      .limit(1);
    if (outdated) return outdated;
  }
  return undefined;
}

/** The queue's waiting jobs with this mark, after an id. */
export async function listJobsByMark(
  tx: Tx,
  { queueId, mark, afterId }: { queueId: string; mark: Date | null; afterId: string | undefined },
  limit: number,
) {
  const { jobs } = tx.tables;
  // SQLite takes the index on marks if it needs no other column, and if another index serves no range of ids.
  const ids = tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(
      and(
        eq(jobs.queueId, queueId),
        isScheduled(jobs),
        mark ? eq(jobs.dispatchPausedAt, mark) : isNull(jobs.dispatchPausedAt),
        afterId ? not(lte(jobs.id, afterId)) : undefined,
      ),
    )
    .orderBy(...orderOfArrival(jobs))
    .limit(limit);
  return tx
    .select({ id: jobs.id, buildId: jobs.buildId })
    .from(jobs)
    .where(inArray(jobs.id, ids))
    .orderBy(asc(jobs.id));
}

/** A literal, because a parameter does not select the partial index. */
export function isScheduled(jobs: Tx["tables"]["jobs"]): SQL {
  return sql`${jobs.state} = 'scheduled'`;
}

/**
 * The order that only the index of waiting jobs has. For an order by id, Postgres could use the primary key, and read
 * every job that has ended. Marks differ only while a fan-out clears them after a pause.
 */
function orderOfArrival(jobs: Tx["tables"]["jobs"]): SQL[] {
  return [asc(jobs.dispatchPausedAt), asc(jobs.id)];
}

export async function setPauseIfWaiting(tx: Tx, jobIds: string[], pausedAt: Date | null): Promise<void> {
  const { jobs } = tx.tables;
  await tx
    .update(jobs)
    .set({ dispatchPausedAt: pausedAt })
    .where(and(inArray(jobs.id, jobIds), eq(jobs.state, "scheduled")));
}

/** Counts the jobs of each queue that wait for somebody to take them, and the jobs that are taken, up to a limit. */
export async function countJobsOfQueues(
  { offLoop, tables: { queues, jobs } }: Db,
  queueIds: string[],
  limit: number,
): Promise<Map<string, { waiting: number; running: number }>> {
  const jobsIn = (states: JobState[]) =>
    offLoop
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(eq(jobs.queueId, queues.id), inArray(jobs.state, states)))
      .limit(limit);
  const counts = await offLoop
    .select({
      id: queues.id,
      waiting: countOf(jobsIn(["scheduled"])),
      running: countOf(jobsIn(takenJobStates)),
    })
    .from(queues)
    .where(inArray(queues.id, queueIds));
  return new Map(counts.map(({ id, ...each }) => [id, each]));
}
