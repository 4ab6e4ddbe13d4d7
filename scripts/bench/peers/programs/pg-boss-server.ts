import { listen } from "./front.ts";
import { queueName, startBoss } from "./pg-boss-queue.ts";

const boss = await startBoss({ max: 20, supervise: false });

await listen(async (payload) => {
  const id = await boss.send(queueName, payload);
  if (!id) throw new Error("pg-boss did not keep the job.");
  return id;
});
