import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { v7 } from "uuid";
import { freePort, untilListening } from "../ports.ts";
import type { Fsync, ScratchRedis } from "../redis.ts";
import type { Scratch } from "../scratch.ts";
import { insertPipeline, openByHandDatabase } from "./by-hand/database.ts";
import { startSignalbox } from "./signalbox.ts";

/** In the order of the table. The hand-made server is measured with two settings of Redis. */
export const columns = {
  bare: { title: "bare h3", short: "bare" },
  everysec: { title: "by hand, everysec", short: "everysec" },
  always: { title: "by hand, always", short: "always" },
  signalbox: { title: "Signalbox", short: "Signalbox" },
};
export type ContestantName = keyof typeof columns;

/** Accepts posts. */
export interface Server {
  name: ContestantName;
  url: string;
  fsync: Fsync;
}

/** Also makes builds, counted by the pipeline's last build number. */
export interface Builder extends Server {
  builds: { databaseFile: string; pipelineId: string };
}

/** Starts all servers, without workers. */
export async function startServers(scratch: Scratch, redis: ScratchRedis): Promise<Server[]> {
  const bare = await startBare(scratch);
  return [bare, ...(await startBuilders(scratch, redis, { workers: false }))];
}

/** Starts the servers that make builds, with their workers. */
export async function startBuilders(
  scratch: Scratch,
  redis: ScratchRedis,
  options = { workers: true },
): Promise<Builder[]> {
  const byHand = await startByHand(scratch, redis, options);
  const signalbox = await startSignalbox(scratch, redis, options);
  return [
    { name: "everysec", fsync: "everysec", ...byHand },
    { name: "always", fsync: "always", ...byHand },
    { name: "signalbox", fsync: "everysec", ...signalbox },
  ];
}

async function startBare(scratch: Scratch): Promise<Server> {
  const port = await freePort();
  scratch.startScript("bare", "scripts/bench/deliveries/bare.ts", { env: { PORT: String(port) } });
  await untilListening(port);
  return { name: "bare", fsync: "everysec", url: `http://127.0.0.1:${port}/deliver/anything` };
}

async function startByHand(scratch: Scratch, redis: ScratchRedis, options: { workers: boolean }) {
  const port = await freePort();
  const token = randomBytes(24).toString("hex");
  const builds = { databaseFile: join(scratch.dir, "by-hand.db"), pipelineId: v7() };
  const database = openByHandDatabase(builds.databaseFile);
  insertPipeline(database, builds.pipelineId);
  database.close();

  scratch.startScript("by-hand-server", "scripts/bench/deliveries/by-hand/server.ts", {
    env: { PORT: String(port), REDIS_URL: redis.url, TOKEN: token, PIPELINE_ID: builds.pipelineId },
  });
  if (options.workers) {
    scratch.startScript("by-hand-worker", "scripts/bench/deliveries/by-hand/worker.ts", {
      env: { REDIS_URL: redis.url, DATABASE_FILE: builds.databaseFile },
    });
  }
  await untilListening(port);
  return { url: `http://127.0.0.1:${port}/deliver/${token}`, builds };
}
