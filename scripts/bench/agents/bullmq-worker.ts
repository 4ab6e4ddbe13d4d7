import { Worker } from "bullmq";
import { Redis } from "ioredis";

const connection = new Redis(process.env.REDIS_URL ?? "", { maxRetriesPerRequest: null });

/** Takes as many jobs. They do nothing: only taking and ending them counts. */
export async function take(queue: string, { jobs, concurrency }: { jobs: number; concurrency: number }) {
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
  const seconds = (performance.now() - startedAt) / 1000;
  await worker.close();
  return { accepted: jobs, seconds };
}
