import { asOperator, createOrganization } from "../../../shared/accounts/organizations.ts";
import { createCluster } from "../../../shared/clusters/clusters.ts";
import { createPipeline, defaultStep } from "../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { createTrigger } from "../../../shared/triggers/create.ts";
import { endpointUrl } from "../../../shared/urls.ts";
import { createDatabase, findPostgres } from "../databases.ts";
import { untilListening } from "../ports.ts";
import type { ScratchRedis } from "../redis.ts";
import { pidsOf, type Scratch } from "../scratch.ts";
import { install, withServices } from "../signalbox.ts";
import type { Builder, BuilderOptions } from "./contestants.ts";

/** Unreachable: the bench measures work, not limits. */
const deliveriesPerHour = 1_000_000_000;

export async function startSignalbox(
  scratch: Scratch,
  redis: ScratchRedis,
  { workers, postgres }: BuilderOptions,
): Promise<Pick<Builder, "url" | "builds" | "pids">> {
  const installation = await install(scratch, redis, {
    DATABASE_URL: await createDatabase(scratch, "deliveries", postgres),
  });
  const { databaseUrl, port, env } = installation;
  const { url, pipelineId } = await withServices(installation, createEndpoint);
  const server = scratch.startScript("ingress", "ingress/main.ts", { env });
  const worker = workers && scratch.startScript("worker", "workers/main.ts", { env });
  await untilListening(port);
  const pids = { ...pidsOf({ server, worker, Redis: redis }), ...(await findPostgres(postgres)) };
  return { url, pids, builds: { databaseUrl, pipelineId } };
}

async function createEndpoint(services: Services): Promise<{ url: string; pipelineId: string }> {
  const [organization, slug, name] = ["bench", "bench", "Bench"];
  const created = await createOrganization(services, { slug: organization, name, deliveriesPerHour });
  const operator = await asOperator(services.db, created);
  const cluster = await createCluster(services, operator, { name });
  await createQueue(services, operator, cluster, { key: "default", isDefault: true });
  const steps = [defaultStep];
  const pipeline = await createPipeline(services, operator, { clusterId: cluster.id, slug, name, steps });
  const trigger = {
    type: "webhook",
    label: name,
    enabled: true,
    message: null,
    commit: null,
    branch: null,
    environment: {},
    filter: null,
    secret: null,
  };
  const made = await createTrigger(services, operator, pipeline, trigger);
  return { url: endpointUrl(services.config, made.token), pipelineId: pipeline.id };
}
