import { refreshPauses } from "../builds/rows/pause-store.ts";
import { lockBuilds } from "../builds/rows/progress-store.ts";
import type { Tx } from "../db/database.ts";
import { minuteMs, secondMs } from "../durations.ts";
import { timeOfId } from "../ids.ts";
import { findQueueById } from "../queues/store.ts";
import type { Topic } from "../redis/events.ts";
import type { Services } from "../services/services.ts";
import { endTasks, listTasks, repeatTask } from "../tasks/store.ts";
import { findOutdatedMark, listJobsByMark, setPauseIfWaiting } from "./store.ts";

/** A transaction changes as many builds at most. 50 lock them for 25 ms on Postgres. */
const jobsPerTransaction = 20;
/** Transactions that read the queue before a pause or a resume have committed within it: their jobs are looked for. */
const lookAgainForMs = minuteMs;
const lookAgainAfterMs = 15 * secondMs;

interface Place {
  mark?: Date | null;
  /** The last job of the slice. Absent: the next slice begins with the first one. */
  afterId?: string;
}

/**
 * Marks the next waiting jobs of a queue, and their builds, as paused, or clears the mark. It reads the queue's present
 * state, so late, repeated and reordered runs end the same.
 * @returns the place of the next slice; undefined once all marks agree
 */
export async function fanOutPause(
  { db, events }: Services,
  queueId: string,
  place?: Place,
): Promise<Place | undefined> {
  const { buildIds, next } = await db.transaction((tx) => markNextJobs(tx, queueId, place));
  events.publish(buildIds.map((id): Topic => `build:${id}`));
  if (!next) events.publish([`queue:${queueId}`]);
  return next;
}

/** Changes the next jobs with an outdated mark. */
async function markNextJobs(
  tx: Tx,
  queueId: string,
  place: Place | undefined,
): Promise<{ buildIds: string[]; next: Place | undefined }> {
  const due = await listTasks(tx, "pause", queueId);
  const queue = await findQueueById(tx, queueId);
  const mark = place?.mark === undefined ? queue && (await findOutdatedMark(tx, queue))?.mark : place.mark;
  if (!queue || mark === undefined) {
    const newest = due.at(-1);
    const dueAt = new Date(tx.now.getTime() + lookAgainAfterMs);
    const isOver = newest === undefined || timeOfId(newest).getTime() + lookAgainForMs < tx.now.getTime();
    await (isOver ? endTasks(tx, due) : repeatTask(tx, due, dueAt));
    return { buildIds: [], next: undefined };
  }
  if (queue.dispatchPausedAt?.getTime() === mark?.getTime()) return { buildIds: [], next: {} };
  const jobs = await listJobsByMark(tx, { queueId, mark, afterId: place?.afterId }, jobsPerTransaction);
  const buildIds = [...new Set(jobs.map(({ buildId }) => buildId))];
  if (jobs.length > 0) {
    await lockBuilds(tx, buildIds);
    await setPauseIfWaiting(
      tx,
      jobs.map(({ id }) => id),
      queue.dispatchPausedAt,
    );
    await refreshPauses(tx, buildIds);
  }
  const last = jobs[jobsPerTransaction - 1];
  return { buildIds, next: last ? { mark, afterId: last.id } : {} };
}
