import { randomUUID } from "node:crypto";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { createAgentToken } from "../../../shared/agents/tokens.ts";
import { createPipeline } from "../../../shared/pipelines/pipelines.ts";
import type { Services } from "../../../shared/process/services.ts";
import type { Step } from "../../../shared/vocabulary.ts";
import { withServices } from "../../scratch/installation.ts";
import { createEndpoint, createFilteringOrganization } from "../../scratch/organization.ts";
import type { Scratch } from "../../scratch/scratch.ts";
import { addBuilds } from "../builds.ts";
import { jobOptions } from "../deliveries/by-hand/queue.ts";
import { startPlayer } from "../player.ts";
import type { ScratchRedis } from "../redis.ts";
import { startSignalbox } from "../signalbox.ts";
import { addOtherJobs } from "./other-jobs.ts";

const queueName = "jobs";

export type BullMq = ReturnType<typeof startBullMq>;

export function startBullMq(scratch: Scratch, redis: ScratchRedis) {
  const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
  connection.on("error", () => {}); // Scratch reports its death
  scratch.onClose(() => connection.disconnect());
  const queue = new Queue(queueName, { connection, defaultJobOptions: jobOptions });
  queue.on("error", () => {});
  const worker = startPlayer<typeof import("./bullmq-worker.ts")>(scratch, "agents/bullmq-worker.ts", {
    env: { REDIS_URL: redis.url },
  });
  return {
    pid: worker.pid,
    /** Lets jobs wait. */
    add: (count: number) =>
      queue.addBulk(
        Array.from({ length: count }, (_, index) => ({
          name: "run",
          data: { buildId: `build-${index}`, command: "echo hello" },
        })),
      ),
    take: (jobs: number, concurrency: number) => worker.take(queueName, { jobs, concurrency }),
  };
}

export type Ours = Awaited<ReturnType<typeof startOurs>>;

export async function startOurs(scratch: Scratch, redis: ScratchRedis, postgres: string | undefined) {
  const started = await startSignalbox(scratch, redis, {
    name: "agents",
    postgres,
    seed: createSeed,
  });
  await started.startWorker();
  return {
    ...started,
    /** Lets jobs wait, one a build. */
    add: (count: number) =>
      withServices(started, (services) => addBuilds(services, started.seed.pipeline.id, count)),
    /** Makes a build of these steps. */
    addSteps: (steps: Step[]) =>
      withServices(started, async (services) => {
        const { operator, cluster } = started.seed;
        const name = `Shape ${randomUUID()}`;
        const { id } = await createPipeline(services, operator, { name, clusterId: cluster.id, steps });
        await addBuilds(services, id, 1);
      }),
    addOtherJobs: (jobs: Parameters<typeof addOtherJobs>[2]) =>
      withServices(started, (services) => addOtherJobs(services, started.seed, jobs)),
  };
}

async function createSeed(services: Services) {
  const { operator, cluster } = await createFilteringOrganization(services, "bench");
  const input = { description: "Bench", queueId: null, expiresAt: null };
  const { token } = await createAgentToken(services, operator, cluster, input);
  const endpoint = await createEndpoint(services, { operator, clusterId: cluster.id }, { slug: "bench" });
  return { ...endpoint, operator, cluster, agentToken: token };
}
