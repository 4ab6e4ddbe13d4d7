import { setTimeout as sleep } from "node:timers/promises";
import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { dayMs, hourMs, minuteMs, secondMs } from "../durations.ts";
import type { Clock } from "../process/clock.ts";
import type { Log } from "../process/log.ts";
import type { Breaker } from "../redis/breaker.ts";
import type { RedisKeys } from "../redis/keys.ts";
import { type Batcher, createBatcher } from "../sharing/batcher.ts";
import { formerJobs, type Gathering, type JobContract, type WorkQueue, workQueues } from "./define.ts";
import { inspectWorkQueues, type WorkQueueInspector } from "./inspect.ts";

export interface JobSender extends WorkQueueInspector {
  /**
   * Never throws: a lost job is requeued. `gathering` may delay it.
   * @returns true if Redis took it
   */
  send<Data>(contract: JobContract<Data>, data: Data): Promise<boolean>;
  /** Undefined while Redis is away. */
  countWaiting(queue: WorkQueue): Promise<number | undefined>;
  /** Removes schedules that have been unknown for ten minutes: they are a former version's. Repeat it: FLUSHALL deletes schedules. */
  schedule(queues: readonly WorkQueue[], contracts: JobContract[]): Promise<void>;
  /** Sends gathered jobs first. */
  close(): Promise<void>;
}

/** Ages in seconds. */
const retention = {
  removeOnComplete: { count: 100, age: hourMs / secondMs },
  removeOnFail: { count: 1000, age: (7 * dayMs) / secondMs },
};
const firstRetryMs = 500;
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

  const sendNow = async (contract: JobContract, data: unknown) => {
    const sent = await breaker.try(() =>
      queues[contract.queue].add(contract.name, data, {
        attempts: contract.tries,
        backoff: { type: "exponential", delay: firstRetryMs, jitter: 0.5 },
      }),
    );
    return sent !== undefined;
  };

  const unknownSince = new Map<string, number>();
  /** Returns true for a schedule that has been unknown for long. */
  const isFormer = (key: string) => {
    const now = clock.now().getTime();
    const since = unknownSince.get(key) ?? now;
    unknownSince.set(key, since);
    return now >= since + formerAfterMs;
  };

  const gatherers = new Map<string, Batcher<unknown, boolean>>();
  const openGatherer = (contract: JobContract, gathering: Gathering<unknown>) => {
    const gatherer = gatherJobs(gathering, (data) => sendNow(contract, data));
    gatherers.set(contract.name, gatherer);
    return gatherer;
  };

  return {
    ...inspectWorkQueues(queues, breaker),

    async send(typed, data) {
      const contract = typed as JobContract;
      const { name, gathering } = contract;
      if (!gathering) return sendNow(contract, data);
      return (gatherers.get(name) ?? openGatherer(contract, gathering)).add(data);
    },

    countWaiting: (queue) => breaker.try(() => queues[queue].getWaitingCount()),

    async schedule(names, contracts) {
      for (const name of names) {
        const recurring = contracts.filter(({ queue, everyMs }) => queue === name && everyMs !== undefined);
        await breaker.try(() => scheduleAll(queues[name], recurring, isFormer));
      }
    },

    async close() {
      for (const gatherer of gatherers.values()) await gatherer.idle();
      const closing = Promise.all(workQueues.map((name) => queues[name].close()));
      await closing.catch((error) => log.warn({ err: error }, "a work queue did not close cleanly"));
    },
  };
}

function gatherJobs(
  { withinMs, merge, maxWeight, weigh }: Gathering<unknown>,
  send: (data: unknown) => Promise<boolean>,
): Batcher<unknown, boolean> {
  let nextAt = 0;
  return createBatcher<unknown, boolean>({
    async gather() {
      const waitMs = nextAt - performance.now();
      if (waitMs > 0) await sleep(waitMs);
    },
    async flush(parts) {
      nextAt = performance.now() + withinMs;
      const sent = await send(merge(parts));
      return parts.map(() => sent);
    },
    maxWeight,
    weigh,
  });
}

async function scheduleAll(
  queue: Queue,
  contracts: JobContract[],
  isFormer: (key: string) => boolean,
): Promise<void> {
  const periods = new Map(contracts.map(({ name, everyMs }) => [name, everyMs as number]));
  for (const { key, next } of await queue.getJobSchedulers()) {
    const everyMs = periods.get(key);
    const isToRemove =
      everyMs === undefined ? formerJobs.includes(key) || isFormer(key) : !isDueSoon(next, everyMs);
    if (isToRemove) await queue.removeJobScheduler(key);
  }

  for (const [name, every] of periods) await queue.upsertJobScheduler(name, { every }, { name, data: {} });
}

/** A clock that was ahead leaves a time far in the future, and BullMQ keeps it while the period stays the same. */
function isDueSoon(next: number | undefined, everyMs: number): boolean {
  return (next ?? 0) <= Date.now() + 2 * everyMs;
}
