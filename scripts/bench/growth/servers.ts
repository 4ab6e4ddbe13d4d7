import { createQueue } from "../../../shared/queues/queues.ts";
import type { Services } from "../../../shared/services/services.ts";
import { fillWords } from "../../../shared/words/fill.ts";
import { onServer } from "../../scratch/databases.ts";
import { addRepository } from "../../scratch/github.ts";
import { createEndpoint } from "../../scratch/organization.ts";
import { step } from "../../scratch/progress.ts";
import type { Scratch } from "../../scratch/scratch.ts";
import type { ScratchRedis } from "../servers/redis.ts";
import { startSignalbox } from "../servers/signalbox.ts";
import { createClient, createTenant, type Owner, type Tenant } from "../servers/tenant.ts";
import { insertFigures } from "./figures.ts";
import { insertOpenRequests } from "./open-requests.ts";
import { type Base, insertRows, makeModels } from "./rows.ts";
import { insertWaiting } from "./waiting.ts";

export type Server = Awaited<ReturnType<typeof startServer>>;

const pipelineCount = 50;
const queueCount = 40;

export async function startServer(
  scratch: Scratch,
  redis: ScratchRedis,
  { rows, postgres }: { rows: number; postgres?: string },
) {
  const started = await startSignalbox(scratch, redis, {
    name: `rows_${rows}`,
    postgres,
    async seed(services) {
      const applicationId = await createClient(services);
      const { tenant, owner } = await createTenant(services, { applicationId });
      const base = await createBase(services, tenant, owner);
      step(`Making ${rows.toLocaleString("en")} rows`);
      const door = await addRepository(services, owner.operator, owner.pipeline);
      const models = await makeModels(services, tenant, owner);
      const lastBuildNumbers = await insertRows(services, models, base, rows);
      const openRequests = await insertOpenRequests(services, base, rows);
      await insertFigures(services, base);
      const stacks = await insertWaiting(services, rows);
      await fillWords(services, { maxBatches: rows, restFactor: 0 });
      if (postgres) await settle(services.config.databaseUrl);
      return { ...base, lastBuildNumbers, deliveryId: models.delivery.id, door, openRequests, stacks };
    },
  });
  return { ...started, name: String(rows) };
}

async function createBase(services: Services, tenant: Tenant, { operator, cluster }: Owner): Promise<Base> {
  const queueIds = [tenant.queueId];
  while (queueIds.length < queueCount)
    queueIds.push((await createQueue(services, operator, cluster, { key: `queue-${queueIds.length}` })).id);
  const pipelines = [{ id: tenant.pipelineId, triggerId: tenant.triggerId }];
  while (pipelines.length < pipelineCount) {
    const slug = `pipeline-${pipelines.length}`;
    const made = await createEndpoint(services, { operator, clusterId: cluster.id }, { slug });
    pipelines.push({ id: made.pipeline.id, triggerId: made.trigger.id });
  }
  return { ...tenant, queueIds, pipelines };
}

/** Postgres would do it while the bench measures. */
async function settle(databaseUrl: string): Promise<void> {
  await onServer(databaseUrl, async (client) => {
    await client.query("vacuum analyze");
    await client.query("checkpoint").catch(() => {}); // only a superuser may
  });
}
