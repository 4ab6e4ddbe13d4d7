import { PgBoss } from "pg-boss";

export const queueName = "deliveries";

/** Starts pg-boss, and creates the queue unless it exists. */
export async function startBoss(options: object): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, schedule: false, ...options });
  boss.on("error", (error) => process.stderr.write(`${error.message}\n`));
  await boss.start();
  await boss.createQueue(queueName, {
    retryLimit: 8,
    retryBackoff: true,
    heartbeatSeconds: 10, // the least; without it a killed worker's jobs wait for 15 minutes
    notify: true,
  });
  return boss;
}
