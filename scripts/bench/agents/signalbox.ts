import { createAgentToken } from "../../../shared/agents/tokens.ts";
import { createBuilds } from "../../../shared/builds/create.ts";
import { createPipeline, defaultStep } from "../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { endpointUrl } from "../../../shared/urls.ts";
import { createDatabase, findPostgres } from "../databases.ts";
import type { Pids } from "../machine/cpu.ts";
import { addTrigger, createBenchOrganization } from "../organization.ts";
import { untilListening } from "../ports.ts";
import type { ScratchRedis } from "../redis.ts";
import { pidsOf, type Scratch } from "../scratch.ts";
import { install, withServices } from "../signalbox.ts";

export interface Signalbox {
  url: string;
  deliveryUrl: string;
  /** Registers agents of the queue that has the jobs. */
  agentToken: string;
  pids: Pids;
  /** Lets jobs wait, one a build. */
  add(count: number): Promise<void>;
}

const rowsAtOnce = 1000;

export async function startSignalbox(
  scratch: Scratch,
  redis: ScratchRedis,
  postgres: string | undefined,
): Promise<Signalbox> {
  const installation = await install(scratch, redis, {
    DATABASE_URL: await createDatabase(scratch, "agents", postgres),
  });
  const { port, env } = installation;
  const { pipelineId, ...seed } = await withServices(installation, createSeed);
  const server = scratch.startScript("ingress", "ingress/main.ts", { env });
  const worker = scratch.startScript("worker", "workers/main.ts", { env });
  await untilListening(port);
  return {
    ...seed,
    url: `http://127.0.0.1:${port}`,
    pids: { ...pidsOf({ server, worker, Redis: redis }), ...(await findPostgres(postgres)) },
    add: (count) => withServices(installation, (services) => addJobs(services, pipelineId, count)),
  };
}

async function createSeed(services: Services) {
  const { operator, cluster } = await createBenchOrganization(services, "bench");
  await createQueue(services, operator, cluster, { key: "default", isDefault: true });
  const input = { clusterId: cluster.id, slug: "bench", name: "Bench", steps: [defaultStep] };
  const pipeline = await createPipeline(services, operator, input);
  const { token: endpointToken } = await addTrigger(services, operator, pipeline);
  const { token: agentToken } = await createAgentToken(services, operator, cluster, {
    description: "Bench",
    queueId: null,
    expiresAt: null,
  });
  return { pipelineId: pipeline.id, deliveryUrl: endpointUrl(services.config, endpointToken), agentToken };
}

async function addJobs({ db, clock }: Services, pipelineId: string, count: number): Promise<void> {
  const request = {
    pipelineId,
    deliveryId: null,
    source: "webhook" as const,
    message: "Light the harbour",
    commit: "HEAD",
    branch: "main",
    environmentSealed: null,
  };
  for (let done = 0; done < count; done += rowsAtOnce) {
    const requests = Array.from({ length: Math.min(rowsAtOnce, count - done) }, () => request);
    await db.transaction((tx) => createBuilds(tx, requests, clock.now()));
  }
}
