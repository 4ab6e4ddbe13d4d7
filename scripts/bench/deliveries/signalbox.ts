import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createOrganization } from "../../../shared/accounts/organizations.ts";
import { createPipeline } from "../../../shared/builds/pipelines.ts";
import { readConfig } from "../../../shared/config.ts";
import { migrate } from "../../../shared/db/migrate.ts";
import { createLog } from "../../../shared/log.ts";
import { endpointUrl } from "../../../shared/paths.ts";
import { createCluster } from "../../../shared/queues/clusters.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import { openServices, type Services } from "../../../shared/services.ts";
import { createTrigger } from "../../../shared/triggers/triggers.ts";
import { freePort, untilListening } from "../ports.ts";
import type { ScratchRedis } from "../redis.ts";
import type { Scratch } from "../scratch.ts";
import type { Builder } from "./contestants.ts";

/** Out of reach: what is measured is the work, not the limit. */
const deliveriesPerHour = 1_000_000_000;

/** This program as people run it: `ingress/main.ts` and `workers/main.ts`, with a log line for every request. */
export async function startSignalbox(
  scratch: Scratch,
  redis: ScratchRedis,
  options: { workers: boolean },
): Promise<Pick<Builder, "url" | "builds">> {
  const databaseFile = join(scratch.dir, "signalbox.db");
  const port = await freePort();
  const env = {
    HOST: "127.0.0.1",
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: `file:${databaseFile}`,
    REDIS_URL: redis.url,
    SECRET_KEY: randomBytes(24).toString("hex"),
    LOG_LEVEL: "info",
  };
  const { url, pipelineId } = await seed(env);
  scratch.startScript("ingress", "ingress/main.ts", { env });
  if (options.workers) scratch.startScript("worker", "workers/main.ts", { env });
  await untilListening(port);
  return { url, builds: { databaseFile, pipelineId } };
}

/** One trigger, with all that it needs. */
async function seed(env: Record<string, string>): Promise<{ url: string; pipelineId: string }> {
  const config = readConfig(env);
  await migrate(config.databaseUrl);
  const log = createLog({ level: "silent", process: "bench" }, { write: () => {} });
  const services = openServices({ config, log });
  try {
    return await createEndpoint(services);
  } finally {
    await services.close();
  }
}

async function createEndpoint(services: Services): Promise<{ url: string; pipelineId: string }> {
  const [organization, slug, name] = ["bench", "bench", "Bench"];
  await createOrganization(services, { slug: organization, name, deliveriesPerHour });
  const cluster = await createCluster(services, { organization, name });
  await createQueue(services, { clusterId: cluster.id, key: "default", isDefault: true });
  const pipeline = await createPipeline(services, { organization, clusterId: cluster.id, slug, name });
  const trigger = {
    type: "webhook",
    label: name,
    enabled: true,
    message: null,
    commit: null,
    branch: null,
    environment: {},
    secret: null,
  };
  const { token } = await createTrigger(services, { organization, pipeline: slug }, trigger);
  return { url: endpointUrl(services.config, token), pipelineId: pipeline.id };
}
