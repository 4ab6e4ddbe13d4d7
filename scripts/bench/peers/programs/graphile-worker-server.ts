import { makeWorkerUtils } from "graphile-worker";
import { listen } from "./front.ts";

const connectionString = process.env.DATABASE_URL;
const utils = await makeWorkerUtils({ preset: { worker: { connectionString, maxPoolSize: 20 } } });
await utils.migrate();

await listen(async (payload) => {
  const { id } = await utils.addJob("run", payload, { maxAttempts: 8 });
  return id;
});
