import { queueName, startBoss } from "./pg-boss-queue.ts";

const boss = await startBoss({
  useListenNotify: true,
  superviseIntervalSeconds: 5,
  monitorIntervalSeconds: 5,
});

// The runs and the completion of their jobs are one transaction.
await boss.work<{ number: number }>(
  queueName,
  { batchSize: 100, localConcurrency: 4, burstWhenBatchFull: true, transactional: true },
  async (jobs, transaction) => {
    const numbers = jobs.map(({ data }) => data.number);
    await transaction.executeSql("insert into runs (number) select unnest($1::integer[])", [numbers]);
  },
);
