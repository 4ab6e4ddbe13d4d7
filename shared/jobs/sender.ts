import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { dayMs, hourMs, minuteMs, secondMs } from "../durations.ts";
import type { Clock } from "../process/clock.ts";
import type { Log } from "../process/log.ts";
import type { Breaker } from "../redis/breaker.ts";
import type { RedisKeys } from "../redis/keys.ts";
import { openGatherer, pause } from "../sharing/gatherer.ts";
import { type JobContract, type WorkQueue, workQueues } from "./define.ts";
import { inspectWorkQueues, type WorkQueueInspector } from "./inspect.ts";

export interface JobSender extends WorkQueueInspector {
  /**
   * Never throws, and waits for a moment after the last one: others may send it too.
   * @returns true if Redis took it
   */
  send(contract: JobContract): Promise<boolean>;
  /** Removes schedules that have been unknown for ten minutes: they are a former version's. Repeat it: FLUSHALL deletes schedules. */
  schedule(queues: readonly WorkQueue[], contracts: JobContract[]): Promise<void>;
  /** Sends jobs that wait first. */
  close(): Promise<void>;
}

/** Ages in seconds. */
const retention = {
  removeOnComplete: { count: 100, age: hourMs / secondMs },
  removeOnFail: { count: 1000, age: (7 * dayMs) / secondMs },
};
/** Redis and worker pay by the job: a busy process gathers them. A job that follows a pause is sent at once. */
const gatherMs = 20;
/** Schedules of a newer version look the same. Its workers renew theirs every 10 seconds. */
const formerAfterMs = 10 * minuteMs;

export function openJobSender(options: {
  redis: Redis;
  keys: RedisKeys;
  breaker: Breaker;
  log: Log;
  clock: Clock;
}): JobSender {
  const { redis, keys, breaker, log, clock } = options;
  const open = (name: WorkQueue) => {
    const queue = new Queue(name, {
      connection: redis,
      prefix: keys.jobs,
      // Without both, a work queue opened while Redis is away stays dead.
      skipWaitingForReady: true,
      skipVersionCheck: true,
      defaultJobOptions: retention,
      streams: { events: { maxLen: 100 } },
    });
    queue.on("error", () => {}); // the breaker reports it
    return queue;
  };
  const queues = Object.fromEntries(workQueues.map((name) => [name, open(name)])) as Record<WorkQueue, Queue>;

  const sendNow = async ({ name, queue }: JobContract) =>
    (await breaker.try(() => queues[queue].add(name, {}))) !== undefined;

  const unknownSince = new Map<string, number>();
  /** Returns true for a schedule that has been unknown for long. */
  const isFormer = (key: string) => {
    const now = clock.now().getTime();
    const since = unknownSince.get(key) ?? now;
    unknownSince.set(key, since);
    return now >= since + formerAfterMs;
  };

  let nextAt = 0;
  const gatherer = openGatherer<JobContract, boolean>({
    keyOf: ({ name }) => name,
    when: (_, hurry) => pause(nextAt - performance.now(), hurry),
    flush(contracts) {
      nextAt = performance.now() + gatherMs;
      return Promise.all(contracts.map(sendNow));
    },
  });

  return {
    ...inspectWorkQueues(queues, breaker),

    send: gatherer.add,

    async schedule(names, contracts) {
      for (const name of names) {
        const recurring = contracts.filter(({ queue, everyMs }) => queue === name && everyMs !== undefined);
        await breaker.try(() => scheduleAll(queues[name], recurring, isFormer));
      }
    },

    async close() {
      await gatherer.flush();
      const closing = Promise.all(workQueues.map((name) => queues[name].close()));
      await closing.catch((error) => log.warn({ err: error }, "a work queue did not close cleanly"));
    },
  };
}

async function scheduleAll(
  queue: Queue,
  contracts: JobContract[],
  isFormer: (key: string) => boolean,
): Promise<void> {
  const periods = new Map(contracts.map(({ name, everyMs }) => [name, everyMs as number]));
  for (const { key, next } of await queue.getJobSchedulers()) {
    const everyMs = periods.get(key);
    const isToRemove = everyMs === undefined ? isFormer(key) : !isDueSoon(next, everyMs);
    if (isToRemove) await queue.removeJobScheduler(key);
  }

  for (const [name, every] of periods) await queue.upsertJobScheduler(name, { every }, { name, data: {} });
}

/** A clock that was ahead leaves a time far in the future, and BullMQ keeps it while the period stays the same. */
function isDueSoon(next: number | undefined, everyMs: number): boolean {
  return (next ?? 0) <= Date.now() + 2 * everyMs;
}
