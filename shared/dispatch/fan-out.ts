import { setTimeout as sleep } from "node:timers/promises";
import type { Job } from "../builds/store.ts";
import type { Tx } from "../db/database.ts";
import { fanOutDispatchPause as fanOutJob } from "../jobs/contracts.ts";
import { findQueueById } from "../queues/store.ts";
import type { Topic } from "../redis/events.ts";
import type { Services } from "../runtime/services.ts";
import {
  assignIfWaiting,
  clearPausedQueue,
  findOldestWaitingJob,
  listOutdatedJobs,
  listQueuesToFanOut,
  lockBuilds,
  lockQueueIfDispatching,
  refreshIsPaused,
  setPausedQueueIfNone,
  setPauseIfWaiting,
} from "./store.ts";

/** Jobs, and so at most builds, that one transaction of a fan-out changes. */
export const jobsPerTransaction = 200;
/** Between two transactions: other processes retry SQLite's write lock every 10 ms or less. */
const restMs = 10;

/**
 * Assigns the queue's longest-waiting job. Once a pause is committed, it assigns none.
 * @returns undefined if no job waits, or the queue is paused or deleted
 */
export async function assignNextJob({ db, clock }: Services, queueId: string): Promise<Job | undefined> {
  return db.transaction(async (tx) => {
    if (!(await lockQueueIfDispatching(tx, queueId))) return undefined;
    const oldest = await findOldestWaitingJob(tx, queueId);
    if (!oldest) return undefined;
    const [build] = await lockBuilds(tx, [oldest.buildId]);
    const job = await assignIfWaiting(tx, oldest.id, clock.now());
    // Just resumed: the fan-out reads only waiting jobs, so it misses this job's build.
    if (build?.pausedQueueId === queueId) await clearPausedQueue(tx, [build.id], queueId);
    if (build?.pausedQueueId) await refreshIsPaused(tx, [build.id]);
    return job;
  });
}

/**
 * Marks the waiting jobs of a queue, and their builds, as paused, or clears the mark. It reads the queue's present
 * state, so late, repeated and reordered runs end the same.
 */
export async function fanOutDispatchPause({ db, events }: Services, queueId: string): Promise<void> {
  let after: string | undefined;
  do {
    const from = after;
    const marked = await db.transaction((tx) => markNextJobs(tx, queueId, from));
    events.publish(marked.buildIds.map((id): Topic => `build:${id}`));
    after = marked.lastJobId;
    if (after) await sleep(restMs);
  } while (after);
  events.publish([`queue:${queueId}`]);
}

/** Marks the next batch. Returns lastJobId if there may be more. */
async function markNextJobs(
  tx: Tx,
  queueId: string,
  afterId: string | undefined,
): Promise<{ buildIds: string[]; lastJobId: string | undefined }> {
  const queue = await findQueueById(tx, queueId);
  const jobs = queue ? await listOutdatedJobs(tx, queue, afterId, jobsPerTransaction) : [];
  if (!queue || jobs.length === 0) return { buildIds: [], lastJobId: undefined };

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
