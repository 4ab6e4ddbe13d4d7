import { Worker } from "bullmq";
import { Redis } from "ioredis";

export interface TakeOrder {
  queue: string;
  jobs: number;
  concurrency: number;
}

export interface Taken {
  seconds: number;
}

const connection = new Redis(process.env.REDIS_URL ?? "", { maxRetriesPerRequest: null });

/** The jobs do nothing: only taking and ending them counts. */
process.on("message", async ({ queue, jobs, concurrency }: TakeOrder) => {
  const worker = new Worker(queue, async () => {}, { connection, concurrency, autorun: false });
  worker.on("error", (error) => process.stderr.write(`${error.message}\n`));
  await worker.waitUntilReady();
  const done = Promise.withResolvers<void>();
  let left = jobs;
  worker.on("completed", () => {
    left--;
    if (left === 0) done.resolve();
  });
  const startedAt = performance.now();
  void worker.run();
  await done.promise;
  const taken: Taken = { seconds: (performance.now() - startedAt) / 1000 };
  await worker.close();
  process.send?.(taken);
});
process.on("disconnect", () => process.exit());
