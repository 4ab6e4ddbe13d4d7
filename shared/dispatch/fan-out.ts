import { clearPausedQueue, refreshIsPaused, setPausedQueueIfNone } from "../builds/pause-store.ts";
import { lockBuilds } from "../builds/progress-store.ts";
import type { Tx } from "../db/database.ts";
import { restBetweenTransactions } from "../db/purge-in-batches.ts";
import { fanOutDispatchPause as fanOutJob } from "../jobs/contracts.ts";
import { findQueueById } from "../queues/store.ts";
import type { Topic } from "../redis/events.ts";
import type { Services } from "../runtime/services.ts";
import { findOutdatedMark, listJobsByMark, listQueuesToFanOut, setPauseIfWaiting } from "./store.ts";

/** Jobs, and so at most builds, that one transaction of a fan-out changes. 200 lock them for 50 ms on a busy Postgres. */
export const jobsPerTransaction = 50;

/**
 * Marks the waiting jobs of a queue, and their builds, as paused, or clears the mark. It reads the queue's present
 * state, so late, repeated and reordered runs end the same.
 */
export async function fanOutDispatchPause({ db, events }: Services, queueId: string): Promise<void> {
  for (;;) {
    const queue = await findQueueById(db, queueId);
    const outdated = queue && (await findOutdatedMark(db, queue));
    if (!outdated) break;
    let afterId: string | undefined;
    do {
      const batch = { queueId, mark: outdated.mark, afterId };
      const marked = await db.transaction((tx) => markNextJobs(tx, batch));
      events.publish(marked.buildIds.map((id): Topic => `build:${id}`));
      afterId = marked.lastJobId;
      if (afterId) await restBetweenTransactions();
    } while (afterId);
  }
  events.publish([`queue:${queueId}`]);
}

/**
 * Returns `fanOutDispatchPause`, of which one runs for a queue at a time: two would wait for each other's rows, and for
 * many jobs `requeueDispatchPauses` sends another every 15 seconds. What is asked for meanwhile runs afterwards, once.
 */
export function openDispatchFanOut(services: Services): (queueId: string) => Promise<void> {
  /** Queues whose fan-out runs. True: another was asked for meanwhile. */
  const running = new Map<string, boolean>();
  return async (queueId) => {
    if (running.has(queueId)) {
      running.set(queueId, true);
      return;
    }
    try {
      do {
        running.set(queueId, false);
        await fanOutDispatchPause(services, queueId);
      } while (running.get(queueId));
    } finally {
      running.delete(queueId);
    }
  };
}

/** Changes the next jobs with an outdated mark. Returns lastJobId if there may be more. */
async function markNextJobs(
  tx: Tx,
  batch: { queueId: string; mark: Date | null; afterId: string | undefined },
): Promise<{ buildIds: string[]; lastJobId: string | undefined }> {
  const nothing = { buildIds: [], lastJobId: undefined };
  const queue = await findQueueById(tx, batch.queueId);
  if (!queue || queue.dispatchPausedAt?.getTime() === batch.mark?.getTime()) return nothing;
  const jobs = await listJobsByMark(tx, batch, jobsPerTransaction);
  if (jobs.length === 0) return nothing;

  const jobIds = jobs.map(({ id }) => id);
  const buildIds = [...new Set(jobs.map(({ buildId }) => buildId))];
  await lockBuilds(tx, buildIds);
  const stillWaiting = await setPauseIfWaiting(tx, jobIds, queue.dispatchPausedAt);
  if (queue.dispatchPausedAt) await setPausedQueueIfNone(tx, stillWaiting, queue.id);
  else await clearPausedQueue(tx, buildIds, queue.id);
  await refreshIsPaused(tx, buildIds);
  return { buildIds, lastJobId: jobIds[jobsPerTransaction - 1] };
}

/** Requeues fan-outs that may be lost, or that missed a new build. */
export async function requeueDispatchPauses({ db, jobs }: Services): Promise<void> {
  for (const queueId of await listQueuesToFanOut(db)) await jobs.send(fanOutJob, { queueId });
}
