import { once } from "node:events";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { jobOptions } from "../deliveries/by-hand/queue.ts";
import type { ScratchRedis } from "../redis.ts";
import type { Scratch } from "../scratch.ts";
import type { Taken, TakeOrder } from "./bullmq-worker.ts";

const queueName = "jobs";

export interface BullMq {
  pid: number | undefined;
  /** Lets jobs wait. */
  add(count: number): Promise<void>;
  /** Takes as many jobs with one worker. */
  take(order: Omit<TakeOrder, "queue">): Promise<Taken>;
}

export function startBullMq(scratch: Scratch, redis: ScratchRedis): BullMq {
  const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
  connection.on("error", () => {}); // Scratch reports its death
  scratch.onClose(() => connection.disconnect());
  const queue = new Queue(queueName, { connection, defaultJobOptions: jobOptions });
  queue.on("error", () => {});
  const child = scratch.startScript("bullmq", "scripts/bench/agents/bullmq-worker.ts", {
    env: { REDIS_URL: redis.url },
    ipc: true,
  });
  return {
    pid: child.pid,
    async add(count) {
      const jobs = Array.from({ length: count }, (_, index) => ({
        name: "run",
        data: { buildId: `build-${index}`, command: "echo hello" },
      }));
      await queue.addBulk(jobs);
    },
    async take(order) {
      const replied = once(child, "message") as Promise<[Taken]>;
      child.send({ queue: queueName, ...order });
      return (await replied)[0];
    },
  };
}
