import { asOperator, updateOrganization } from "../../../shared/accounts/organizations.ts";
import { createPipeline, defaultStep } from "../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { endpointUrl } from "../../../shared/urls.ts";
import { createDatabase, findPostgres } from "../databases.ts";
import { addTrigger, createBenchOrganization } from "../organization.ts";
import { untilListening } from "../ports.ts";
import type { ScratchRedis } from "../redis.ts";
import { pidsOf, type Scratch } from "../scratch.ts";
import { install, withServices } from "../signalbox.ts";
import type { Builder, BuilderOptions } from "./contestants.ts";

export async function startSignalbox(
  scratch: Scratch,
  redis: ScratchRedis,
  { workers, filter, postgres }: BuilderOptions,
): Promise<Pick<Builder, "url" | "builds" | "pids">> {
  const installation = await install(scratch, redis, {
    DATABASE_URL: await createDatabase(scratch, "deliveries", postgres),
  });
  const { databaseUrl, port, env } = installation;
  const { url, pipelineId } = await withServices(installation, (services) =>
    createEndpoint(services, filter),
  );
  const server = scratch.startScript("ingress", "ingress/main.ts", { env });
  const worker = workers && scratch.startScript("worker", "workers/main.ts", { env });
  await untilListening(port);
  const pids = { ...pidsOf({ server, worker, Redis: redis }), ...(await findPostgres(postgres)) };
  return { url, pids, builds: { databaseUrl, pipelineId } };
}

/** With a pipeline of one command in a default queue. */
export async function createEndpoint(
  services: Services,
  filter?: string,
): Promise<{ url: string; pipelineId: string }> {
  const { cluster } = await createBenchOrganization(services, "bench");
  const features = { webhook_filtering: true };
  const operator = await asOperator(services.db, await updateOrganization(services, "bench", { features }));
  await createQueue(services, operator, cluster, { key: "default", isDefault: true });
  const input = { clusterId: cluster.id, slug: "bench", name: "Bench", steps: [defaultStep] };
  const pipeline = await createPipeline(services, operator, input);
  const { token } = await addTrigger(services, operator, pipeline, filter);
  return { url: endpointUrl(services.config, token), pipelineId: pipeline.id };
}
