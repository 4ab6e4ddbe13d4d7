import { eq, sql } from "drizzle-orm";
import type { Actor } from "../../../shared/accounts/audit.ts";
import { createBuilds } from "../../../shared/builds/create.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import { newIds } from "../../../shared/ids.ts";
import { createPipeline, defaultStep } from "../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { endpointUrl } from "../../../shared/urls.ts";
import { addTrigger, createAdmin, createBenchOrganization } from "../organization.ts";

export interface Seed {
  organization: string;
  organizationId: string;
  clusterId: string;
  /** All jobs wait on it. */
  queueId: string;
  token: string;
  /** The id of the trigger that gets webhooks. */
  triggerId: string;
  deliveryUrl: string;
}

const organization = "bench";
const busy = "busy";
const rowsAtOnce = 1000;

/** Each build has one job, on one queue. */
export async function fill(services: Services, size: { queues: number; jobs: number }): Promise<Seed> {
  const { organization: created, operator, cluster } = await createBenchOrganization(services, organization);
  const queue = await createQueue(services, operator, cluster, { key: busy });
  await createQueue(services, operator, cluster, { key: "default", isDefault: true });
  await addQueues(services, cluster, queue, size.queues - 2);
  await addJobs(services, operator, cluster, size.jobs);
  const { apiToken } = await createAdmin(services, organization, ["read_clusters", "write_clusters"]);
  return {
    organization,
    organizationId: created.id,
    clusterId: cluster.id,
    queueId: queue.id,
    token: apiToken,
    ...(await createEndpoint(services, operator, cluster)),
  };
}

async function addQueues({ db, clock }: Services, cluster: Cluster, like: Queue, count: number) {
  const createdAt = clock.now();
  const rows = newIds(createdAt, count).map((id, index) => ({
    ...like,
    id,
    key: `queue-${index}`,
    createdAt,
  }));
  for (let start = 0; start < count; start += rowsAtOnce) {
    const some = rows.slice(start, start + rowsAtOnce);
    await db.transaction((tx) => tx.insertMany(tx.tables.queues, some));
  }
  await db.transaction(async (tx) => {
    const { clusters } = tx.tables;
    const queueCount = sql`${clusters.queueCount} + ${count}`;
    await tx.update(clusters).set({ queueCount }).where(eq(clusters.id, cluster.id));
  });
}

async function addJobs(
  { db, clock, ...services }: Services,
  operator: Actor,
  cluster: Cluster,
  count: number,
) {
  const steps = [{ ...defaultStep, agents: { queue: busy } }];
  const input = { clusterId: cluster.id, slug: busy, name: busy, steps };
  const { id: pipelineId } = await createPipeline({ ...services, db, clock }, operator, input);
  const request = {
    pipelineId,
    deliveryId: null,
    source: "webhook" as const,
    message: "Light the harbour",
    commit: "HEAD",
    branch: "main",
    environment: {},
    environmentSealed: null,
  };
  for (let done = 0; done < count; done += rowsAtOnce) {
    const requests = Array.from({ length: Math.min(rowsAtOnce, count - done) }, () => request);
    await db.transaction((tx) => createBuilds(tx, requests, clock.now()));
  }
}

async function createEndpoint(services: Services, operator: Actor, cluster: Cluster) {
  const pipeline = "deliveries";
  const created = await createPipeline(services, operator, {
    clusterId: cluster.id,
    slug: pipeline,
    name: pipeline,
    steps: [defaultStep],
  });
  const { trigger, token } = await addTrigger(services, operator, created);
  return { triggerId: trigger.id, deliveryUrl: endpointUrl(services.config, token) };
}
