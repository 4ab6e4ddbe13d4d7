import type { Job, Queue } from "bullmq";
import type { Breaker } from "../redis/breaker.ts";
import { Refusal } from "../refusal.ts";
import type { WorkQueue } from "./define.ts";

/** States of a background job that is not over. `delayed`: it failed and is tried again, or is a schedule's next run. */
export const workStates = ["waiting", "active", "delayed", "failed"] as const;
export type WorkState = (typeof workStates)[number];

export interface WorkJob {
  id: string;
  name: string;
  attempts: number;
  failure: string | null;
  createdAt: Date;
  failedAt: Date | null;
}

/** For the operator's command. All are undefined while Redis is away. */
export interface WorkQueueInspector {
  countStates(queue: WorkQueue): Promise<Record<WorkState, number> | undefined>;
  /** Newest first. */
  listJobs(queue: WorkQueue, state: WorkState, limit: number): Promise<WorkJob[] | undefined>;
  /** @throws Refusal 404 */
  findJob(queue: WorkQueue, id: string): Promise<WorkJob | undefined>;
  /** failed → waiting. @throws Refusal 404, 409 */
  retryIfFailed(queue: WorkQueue, id: string): Promise<true | undefined>;
  /** @throws Refusal 404, 409 while a worker has it */
  drop(queue: WorkQueue, id: string): Promise<true | undefined>;
}

export function inspectWorkQueues(queues: Record<WorkQueue, Queue>, breaker: Breaker): WorkQueueInspector {
  const withJob = <T>(queue: WorkQueue, id: string, act: (job: Job) => Promise<T>) =>
    refusing(async (refuse) =>
      breaker.try(async () => {
        const job = (await queues[queue].getJob(id)) as Job | undefined;
        if (!job) return refuse(new Refusal(404, `No background job "${id}" found in ${queue}`));
        return act(job).catch((error: Error) =>
          refuse(new Refusal(409, `The job ${id} stays as it is: ${error.message}`)),
        );
      }),
    );

  return {
    countStates: (queue) =>
      breaker.try(async () => (await queues[queue].getJobCounts(...workStates)) as Record<WorkState, number>),
    listJobs: (queue, state, limit) =>
      breaker.try(async () => {
        const found = (await queues[queue].getJobs([state], 0, limit - 1)) as (Job | undefined)[];
        return found.filter((job) => job !== undefined).map(present); // it may end meanwhile
      }),
    findJob: (queue, id) => withJob(queue, id, async (job) => present(job)),
    retryIfFailed: (queue, id) =>
      withJob(queue, id, async (job) => job.retry("failed").then(() => true as const)),
    drop: (queue, id) => withJob(queue, id, async (job) => job.remove().then(() => true as const)),
  };
}

/** A refusal is not a fault of Redis: it must not open the breaker. */
async function refusing<T>(work: (refuse: (refusal: Refusal) => undefined) => Promise<T>): Promise<T> {
  let refusal: Refusal | undefined;
  const result = await work((given) => {
    refusal = given;
    return undefined;
  });
  if (refusal) throw refusal;
  return result;
}

function present(job: Job): WorkJob {
  return {
    id: job.id ?? "",
    name: job.name,
    attempts: job.attemptsMade,
    failure: job.failedReason ?? null,
    createdAt: new Date(job.timestamp),
    failedAt: job.finishedOn === undefined ? null : new Date(job.finishedOn),
  };
}
