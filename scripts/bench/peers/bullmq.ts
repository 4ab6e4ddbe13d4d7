import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Queue } from "bullmq";
import { v7 } from "uuid";
import { freePort } from "../../../test/servers/ports.ts";
import { insertPipeline, openByHandDatabase } from "../deliveries/by-hand/database.ts";
import { type DeliveryJob, queueName, queuePrefix } from "../deliveries/by-hand/queue.ts";
import { type Fsync, ScratchRedis } from "../redis.ts";
import type { Scratch } from "../scratch.ts";
import type { Peer } from "./peer.ts";
import { readRows } from "./rows.ts";

const byHand = join(import.meta.dirname, "../deliveries/by-hand");

/** The hand-made server of `deliveries`. Its worker writes to SQLite. */
export async function prepareBullMq(scratch: Scratch, fsync: Fsync): Promise<Peer> {
  const redis = await ScratchRedis.start(scratch);
  await redis.setFsync(fsync);
  const port = await freePort();
  const token = randomBytes(24).toString("hex");
  const file = join(scratch.dir, "by-hand.db");
  const pipelineId = v7();
  const database = openByHandDatabase(file);
  insertPipeline(database, pipelineId);
  database.close();

  const queue = new Queue<DeliveryJob>(queueName, { connection: { url: redis.url }, prefix: queuePrefix });
  queue.on("error", () => {}); // Scratch reports the death of Redis
  scratch.onClose(() => queue.close());
  const start = (name: string, env: Record<string, string>) =>
    scratch.startProgram(`bullmq-${name}`, process.execPath, {
      args: [join(byHand, `${name}.ts`)],
      env: { REDIS_URL: redis.url, ...env },
    });
  return {
    url: `http://127.0.0.1:${port}/deliver/${token}`,
    port,
    processes: {
      server: () => start("server", { PORT: String(port), TOKEN: token, PIPELINE_ID: pipelineId }),
      worker: () => start("worker", { DATABASE_FILE: file }),
    },
    key: "id",
    ...(await readRows(scratch, `file:${file}`, {
      runs: "select delivery_id as key from builds",
      unfinished: "",
    })),
    async listUnfinished() {
      const jobs = await queue.getJobs(["waiting", "active", "delayed"]);
      return jobs.map(({ data }) => data.deliveryId);
    },
  };
}
