import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { v7 } from "uuid";
import { freePort } from "../../../test/servers/ports.ts";
import { untilListening } from "../ports.ts";
import type { ScratchRedis } from "../redis.ts";
import { pidsOf, type Scratch } from "../scratch.ts";
import { insertPipeline, openByHandDatabase } from "./by-hand/database.ts";
import type { Builder, BuilderOptions, Server } from "./contestants.ts";
import { startSignalbox } from "./signalbox.ts";

/** Starts all servers. */
export async function startServers(
  scratch: Scratch,
  redis: ScratchRedis,
  options: BuilderOptions,
): Promise<Server[]> {
  const bare = await startBare(scratch);
  return [bare, ...(await startBuilders(scratch, redis, options))];
}

/** Starts the servers that make builds. */
export async function startBuilders(
  scratch: Scratch,
  redis: ScratchRedis,
  options: BuilderOptions,
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
  const server = scratch.startScript("bare", "scripts/bench/deliveries/bare.ts", {
    env: { PORT: String(port) },
  });
  await untilListening(port);
  const url = `http://127.0.0.1:${port}/deliver/anything`;
  return { name: "bare", fsync: "everysec", url, pids: pidsOf({ server }) };
}

async function startByHand(scratch: Scratch, redis: ScratchRedis, { workers, filter = "" }: BuilderOptions) {
  const port = await freePort();
  const token = randomBytes(24).toString("hex");
  const databaseFile = join(scratch.dir, "by-hand.db");
  const pipelineId = v7();
  const database = openByHandDatabase(databaseFile);
  insertPipeline(database, pipelineId);
  database.close();

  const server = scratch.startScript("by-hand-server", "scripts/bench/deliveries/by-hand/server.ts", {
    env: { PORT: String(port), REDIS_URL: redis.url, TOKEN: token, PIPELINE_ID: pipelineId },
  });
  const worker =
    workers &&
    scratch.startScript("by-hand-worker", "scripts/bench/deliveries/by-hand/worker.ts", {
      env: { REDIS_URL: redis.url, DATABASE_FILE: databaseFile, FILTER: filter },
    });
  await untilListening(port);
  return {
    url: `http://127.0.0.1:${port}/deliver/${token}`,
    pids: pidsOf({ server, worker, Redis: redis }),
    builds: { databaseUrl: `file:${databaseFile}`, pipelineId },
  };
}
