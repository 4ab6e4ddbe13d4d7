import { run } from "graphile-worker";

// As its page on performance advises. NO_LOG_SUCCESS keeps it from a log line for each job.
const runner = await run({
  preset: {
    worker: {
      connectionString: process.env.DATABASE_URL,
      concurrentJobs: 24,
      maxPoolSize: 26,
      localQueue: { size: 25 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
  taskList: {
    async run(payload, { query }) {
      const { number } = payload as { number: number };
      await query("insert into runs (number) values ($1)", [number]);
    },
  },
});
await runner.promise;
