import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { Breaker } from "../redis/breaker.ts";
import type { RedisKeys } from "../redis/keys.ts";
import type { Log } from "../runtime/log.ts";
import { type JobContract, type WorkQueue, workQueues } from "./define.ts";

/** Where work is handed over to workers. */
export interface JobSender {
  /**
   * Ask for a job to run. Never throws and is not waited for on hot paths: a job that is lost here, or later in
   * Redis, is found again by a sweep.
   * @returns whether Redis took it
   */
  send<Data>(contract: JobContract<Data>, data: Data): Promise<boolean>;
  /** How many jobs wait in a queue; undefined when Redis cannot say. */
  countWaiting(queue: WorkQueue): Promise<number | undefined>;
  /** Make sure that recurring jobs are scheduled. Repeating it is harmless; FLUSHALL makes it necessary. */
  schedule(contracts: JobContract[]): Promise<void>;
  close(): Promise<void>;
}

const keptAfterwards = {
  removeOnComplete: { count: 100, age: 3600 },
  removeOnFail: { count: 1000, age: 7 * 24 * 3600 },
};
const firstRetryMs = 500;

export function openJobSender(options: {
  redis: Redis;
  keys: RedisKeys;
  breaker: Breaker;
  log: Log;
}): JobSender {
  const { redis, keys, breaker, log } = options;
  const open = (name: WorkQueue) => {
    const queue = new Queue(name, {
      connection: redis,
      prefix: keys.jobs,
      // Without both of these a queue that is opened while Redis is down stays dead when Redis comes back.
      skipWaitingForReady: true,
      skipVersionCheck: true,
      defaultJobOptions: keptAfterwards,
      streams: { events: { maxLen: 100 } },
    });
    queue.on("error", () => {}); // the breaker reports it
    return queue;
  };
  const queues = Object.fromEntries(workQueues.map((name) => [name, open(name)])) as Record<WorkQueue, Queue>;

  return {
    async send(contract, data) {
      const sent = await breaker.attempt(() =>
        queues[contract.queue].add(contract.name, data, {
          attempts: contract.attempts,
          backoff: { type: "exponential", delay: firstRetryMs, jitter: 0.5 },
        }),
      );
      return sent !== undefined;
    },

    countWaiting: (queue) => breaker.attempt(() => queues[queue].getWaitingCount()),

    async schedule(contracts) {
      for (const { name, queue, everyMs } of contracts) {
        if (everyMs === undefined) continue;
        await breaker.attempt(() =>
          queues[queue].upsertJobScheduler(name, { every: everyMs }, { name, data: {} }),
        );
      }
    },

    async close() {
      const closing = Promise.all(workQueues.map((name) => queues[name].close()));
      await closing.catch((error) => log.warn({ err: error }, "a job queue did not close cleanly"));
    },
  };
}
