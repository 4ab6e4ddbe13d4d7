import { Queue } from "bullmq";
import { Redis } from "ioredis";
import type { Scratch } from "../../scratch/scratch.ts";
import { jobOptions } from "../deliveries/by-hand/queue.ts";
import { startPlayer } from "../player.ts";
import type { ScratchRedis } from "../servers/redis.ts";

const queueName = "jobs";

export function startBullMq(scratch: Scratch, redis: ScratchRedis) {
  const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
  connection.on("error", () => {}); // Scratch reports its death
  scratch.onClose(() => connection.disconnect());
  const queue = new Queue(queueName, { connection, defaultJobOptions: jobOptions });
  queue.on("error", () => {});
  const env = { REDIS_URL: redis.url };
  const worker = startPlayer<typeof import("./bullmq-worker.ts")>(scratch, "agents/bullmq-worker.ts", {
    env,
  });
  const jobOf = (_: unknown, index: number) => ({
    name: "run",
    data: { buildId: `build-${index}`, command: "echo hello" },
  });
  return {
    pid: worker.pid,
    /** Lets jobs wait. */
    add: async (count: number) => void (await queue.addBulk(Array.from({ length: count }, jobOf))),
    take: (jobs: number, concurrency: number) => worker.take(queueName, { jobs, concurrency }),
  };
}
