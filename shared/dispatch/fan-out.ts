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
  findOldestWaiting,
  listQueuesToMatch,
  listUnmatchedJobs,
  lockBuilds,
  lockQueueIfDispatching,
  setPausedQueue,
  setPauseIfWaiting,
} from "./store.ts";

/** Jobs, and so builds at most, that one transaction of a fan-out changes. */
export const jobsAtOnce = 200;
/** Between two of them: whoever waits for SQLite's write lock tries again at intervals of up to 10 ms. */
const restMs = 10;

/**
 * Hand out the job that has waited longest on a queue. Never one of a queue that is paused: from the moment that a
 * pause is answered none is assigned (spec §3.2).
 * @returns undefined when nothing waits, or the queue is paused or gone
 */
export async function assignNextJob({ db, clock }: Services, queueId: string): Promise<Job | undefined> {
  return db.transaction(async (tx) => {
    if (!(await lockQueueIfDispatching(tx, queueId))) return undefined;
    const oldest = await findOldestWaiting(tx, queueId);
    if (!oldest) return undefined;
    const [build] = await lockBuilds(tx, [oldest.buildId]);
    const job = await assignIfWaiting(tx, oldest.id, clock.now());
    // Just resumed: a fan-out looks only at jobs that wait, so it would not let go this one's build.
    if (build?.pausedQueueId === queueId) await clearPausedQueue(tx, [build.id], queueId);
    return job;
  });
}

/**
 * Make the waiting jobs of a queue, and their builds, carry its pause or drop it. It reads what the queue is now,
 * not what it was when somebody asked: runs that are late, repeated or out of order all lead to the same.
 */
export async function fanOutDispatchPause({ db, events }: Services, queueId: string): Promise<void> {
  let after: string | undefined;
  do {
    const from = after;
    const matched = await db.transaction((tx) => matchJobs(tx, queueId, from));
    events.publish(matched.buildIds.map((id): Topic => `build:${id}`));
    after = matched.lastJobId;
    if (after) await sleep(restMs);
  } while (after);
  events.publish([`queue:${queueId}`]);
}

/**
 * The next waiting jobs of the queue, and their builds, in one transaction.
 * @returns lastJobId when there may be more
 */
async function matchJobs(
  tx: Tx,
  queueId: string,
  afterId: string | undefined,
): Promise<{ buildIds: string[]; lastJobId: string | undefined }> {
  const queue = await findQueueById(tx, queueId);
  const jobs = queue ? await listUnmatchedJobs(tx, queue, afterId, jobsAtOnce) : [];
  if (!queue || jobs.length === 0) return { buildIds: [], lastJobId: undefined };

  const jobIds = jobs.map(({ id }) => id);
  const buildIds = [...new Set(jobs.map(({ buildId }) => buildId))];
  await lockBuilds(tx, buildIds);
  const stillWaiting = await setPauseIfWaiting(tx, jobIds, queue.dispatchPausedAt);
  if (queue.dispatchPausedAt) await setPausedQueue(tx, stillWaiting, queue.id);
  else await clearPausedQueue(tx, buildIds, queue.id);
  return { buildIds, lastJobId: jobIds[jobsAtOnce - 1] };
}

/** Send a fan-out where one may have been lost, or a build came while one ran. */
export async function requeueDispatchPauses({ db, jobs }: Services): Promise<void> {
  for (const queueId of await listQueuesToMatch(db)) await jobs.send(fanOutJob, { queueId });
}
