import { refreshPauses } from "../builds/pause-store.ts";
import { lockBuilds } from "../builds/progress-store.ts";
import { restBetweenTransactions } from "../db/batches.ts";
import type { Tx } from "../db/database.ts";
import { fanOutDispatchPauseJob } from "../jobs/contracts.ts";
import type { Services } from "../process/services.ts";
import { findQueueById } from "../queues/store.ts";
import type { Topic } from "../redis/events.ts";
import { turns as bounds } from "../sharing/bounds.ts";
import { openTasksByKey, type TasksByKey } from "../sharing/tasks.ts";
import { openTurns } from "../sharing/turns.ts";
import {
  findOutdatedMark,
  findOwnerOfQueue,
  listJobsByMark,
  listQueuesToFanOut,
  setPauseIfWaiting,
} from "./store.ts";

const { max: jobsPerTransaction } = bounds.fanOuts.each;

type InTurn = <Result>(transaction: () => Promise<Result>) => Promise<Result>;

/**
 * Marks the waiting jobs of a queue, and their builds, as paused, or clears the mark. It reads the queue's present
 * state, so late, repeated and reordered runs end the same.
 */
export async function fanOutDispatchPause(
  { db, events }: Services,
  queueId: string,
  inTurn: InTurn = (transaction) => transaction(),
): Promise<void> {
  for (;;) {
    const queue = await findQueueById(db, queueId);
    const outdated = queue && (await findOutdatedMark(db, queue));
    if (!outdated) break;
    let afterId: string | undefined;
    do {
      const batch = { queueId, mark: outdated.mark, afterId };
      const marked = await inTurn(() => db.transaction((tx) => markNextJobs(tx, batch)));
      events.publish(marked.buildIds.map((id): Topic => `build:${id}`));
      afterId = marked.lastJobId;
      if (afterId) await restBetweenTransactions();
    } while (afterId);
  }
  events.publish([`queue:${queueId}`]);
}

/**
 * Runs one fan-out of a queue at a time: two would wait for each other's rows. Organizations take turns with
 * transactions, so that one with many waiting jobs does not delay the others. `requeueDispatchPauses` repeats a run
 * that `close` aborts.
 */
export function openFanOuts(services: Services): TasksByKey {
  const turns = openTurns(bounds.fanOuts);
  return openTasksByKey(
    async (queueId, signal) => {
      const owner = await findOwnerOfQueue(services.db, queueId);
      if (owner === undefined) return;
      const inTurn: InTurn = (transaction) => turns.take(owner, transaction, signal);
      await fanOutDispatchPause(services, queueId, inTurn);
    },
    (queueId, error) =>
      services.log.warn({ err: error, queueId }, "could not fan out a pause; will be requeued"),
  );
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
  await setPauseIfWaiting(tx, jobIds, queue.dispatchPausedAt);
  await refreshPauses(tx, buildIds);
  return { buildIds, lastJobId: jobIds[jobsPerTransaction - 1] };
}

/** Requeues fan-outs that may be lost, or that missed a job which was scheduled meanwhile. */
export async function requeueDispatchPauses({ db, jobs }: Services): Promise<void> {
  for (const queueId of await listQueuesToFanOut(db)) await jobs.send(fanOutDispatchPauseJob, { queueId });
}
