import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { v7 } from "uuid";
import { createEndpoint, createFilteringOrganization } from "../../scratch/organization.ts";
import { freePort, untilListening } from "../../scratch/ports.ts";
import type { Scratch } from "../../scratch/scratch.ts";
import type { Contestant } from "../loads.ts";
import { pidsOf } from "../machine/cpu.ts";
import type { ScratchRedis } from "../redis.ts";
import { startSignalbox } from "../signalbox.ts";
import { insertPipeline, openByHandDatabase } from "./by-hand/database.ts";

/** In the table's order. The hand-made server has two settings of Redis. */
export const columns = {
  bare: "bare h3",
  everysec: "by hand, everysec",
  always: "by hand, always",
  signalbox: "Signalbox",
};
export type ContestantName = keyof typeof columns;

export interface Server extends Contestant<ContestantName> {
  url: string;
}

/** A server whose worker makes builds. */
export interface Builder extends Server {
  databaseUrl: string;
  pipelineId: string;
}

export interface BuilderOptions {
  workers: boolean;
  /** An expression over `webhook.payload` that each delivery must meet. */
  filter?: string | undefined;
  postgres: string | undefined;
}

export async function startBare(scratch: Scratch): Promise<Server> {
  const port = await freePort();
  const env = { PORT: String(port) };
  const server = scratch.startScript("bare", "scripts/bench/deliveries/bare.ts", { env });
  await untilListening(port);
  const url = `http://127.0.0.1:${port}/deliver/anything`;
  return { name: "bare", fsync: "everysec", url, pids: pidsOf({ server }) };
}

export async function startBuilders(
  scratch: Scratch,
  redis: ScratchRedis,
  options: BuilderOptions,
): Promise<Builder[]> {
  const byHand = await startByHand(scratch, redis, options);
  const signalbox = await startOurs(scratch, redis, options);
  return [
    { name: "everysec", fsync: "everysec", ...byHand },
    { name: "always", fsync: "always", ...byHand },
    { name: "signalbox", fsync: "everysec", ...signalbox },
  ];
}

async function startByHand(scratch: Scratch, redis: ScratchRedis, { workers, filter = "" }: BuilderOptions) {
  const port = await freePort();
  const token = randomBytes(24).toString("hex");
  const databaseFile = join(scratch.dir, "by-hand.db");
  const pipelineId = v7();
  const database = openByHandDatabase(databaseFile);
  insertPipeline(database, pipelineId);
  database.close();

  const env = { PORT: String(port), REDIS_URL: redis.url, TOKEN: token, PIPELINE_ID: pipelineId };
  const start = (name: "server" | "worker") =>
    scratch.startScript(`by-hand-${name}`, `scripts/bench/deliveries/by-hand/${name}.ts`, {
      env: { ...env, DATABASE_FILE: databaseFile, FILTER: filter },
    });
  const server = start("server");
  const worker = workers && start("worker");
  await untilListening(port);
  return {
    url: `http://127.0.0.1:${port}/deliver/${token}`,
    pids: pidsOf({ server, worker, Redis: redis }),
    databaseUrl: `file:${databaseFile}`,
    pipelineId,
  };
}

async function startOurs(
  scratch: Scratch,
  redis: ScratchRedis,
  { workers, filter, postgres }: BuilderOptions,
) {
  const started = await startSignalbox(scratch, redis, {
    name: "deliveries",
    postgres,
    seed: async (services) => {
      const { operator, cluster } = await createFilteringOrganization(services, "bench");
      return createEndpoint(services, { operator, clusterId: cluster.id }, { slug: "bench", filter });
    },
  });
  if (workers) await started.startWorker();
  const { pids, databaseUrl, metricsPort, seed } = started;
  return { url: seed.deliveryUrl, pids, databaseUrl, metricsPort, pipelineId: seed.pipeline.id };
}
