import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { v7 } from "uuid";
import type { Scratch } from "../../scratch/scratch.ts";
import type { Contestant } from "../loads.ts";
import type { Builder } from "../servers/counter.ts";
import type { ScratchRedis } from "../servers/redis.ts";
import { startSignalbox } from "../servers/signalbox.ts";
import { createTenant } from "../servers/tenant.ts";
import { makeByHandDatabase } from "./by-hand/database.ts";

/** In the table's order. The hand-made server has two settings of Redis. */
export const columns = {
  bare: "bare h3",
  everysec: "by hand, everysec",
  always: "by hand, always",
  signalbox: "Signalbox",
};

interface Server extends Contestant {
  url: string;
}

interface BuilderOptions {
  workers: boolean;
  /** An expression over `webhook.payload` that each delivery must meet. */
  filter?: string | undefined;
  postgres: string | undefined;
}

export async function startBare(scratch: Scratch): Promise<Server> {
  const { url, pid } = await scratch.startServer("bare", "scripts/bench/deliveries/bare.ts", {
    isPlain: true,
  });
  return { name: "bare", fsync: "everysec", url: `${url}/deliver/anything`, pids: { server: pid } };
}

export async function startBuilders(
  scratch: Scratch,
  redis: ScratchRedis,
  options: BuilderOptions,
): Promise<(Server & Builder)[]> {
  const byHand = await startByHand(scratch, redis, options);
  return [
    { name: "everysec", fsync: "everysec", ...byHand },
    { name: "always", fsync: "always", ...byHand },
    { name: "signalbox", fsync: "everysec", ...(await startOurs(scratch, redis, options)) },
  ];
}

async function startByHand(scratch: Scratch, redis: ScratchRedis, { workers, filter = "" }: BuilderOptions) {
  const [token, pipelineId] = [randomBytes(24).toString("hex"), v7()];
  const file = join(scratch.dir, "by-hand.db");
  makeByHandDatabase(file, pipelineId);
  const ofServer = { REDIS_URL: redis.url, TOKEN: token, PIPELINE_ID: pipelineId };
  const options = { env: { ...ofServer, DATABASE_FILE: file, FILTER: filter }, isPlain: true } as const;
  const folder = "scripts/bench/deliveries/by-hand";
  const server = await scratch.startServer("by-hand-server", `${folder}/server.ts`, options);
  const worker = workers && scratch.startScript("by-hand-worker", `${folder}/worker.ts`, options).pid;
  return {
    url: `${server.url}/deliver/${token}`,
    pids: { server: server.pid, ...(worker && { worker }), Redis: redis.pid },
    databaseUrl: `file:${file}`,
    pipelineId,
  };
}

async function startOurs(
  scratch: Scratch,
  redis: ScratchRedis,
  { workers, filter, postgres }: BuilderOptions,
) {
  const { seed, startWorker, ...started } = await startSignalbox(scratch, redis, {
    name: "deliveries",
    postgres,
    seed: async (services) => (await createTenant(services, { filter })).tenant,
  });
  if (workers) await startWorker();
  const { pids, databaseUrl, metricsPort } = started;
  return { url: seed.deliveryUrl, pids, databaseUrl, metricsPort, pipelineId: seed.pipelineId };
}
