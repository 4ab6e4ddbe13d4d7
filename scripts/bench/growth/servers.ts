import { startSession } from "../../../shared/accounts/sessions.ts";
import type { Services } from "../../../shared/process/services.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import { onServer } from "../../scratch/databases.ts";
import { createAdmin, createEndpoint, createScratchOrganization } from "../../scratch/organization.ts";
import { step } from "../../scratch/progress.ts";
import type { Scratch } from "../../scratch/scratch.ts";
import { createSeed, type Seed } from "../device/codes.ts";
import type { ScratchRedis } from "../redis.ts";
import { type Signalbox, startSignalbox } from "../signalbox.ts";
import { type Inserted, insertRows } from "./rows.ts";

/** An organization without builds: as many pipelines and queues, however many rows come. */
export interface Base extends Seed {
  clusterId: string;
  /** The first is the default. */
  queueIds: string[];
  /** Ids. The first is the busiest. */
  pipelines: string[];
  /** By pipeline. */
  triggerIds: Map<string, string>;
  /** The endpoint URL of the first pipeline's trigger. */
  deliveryUrl: string;
  /** The pipeline whose jobs wait on the second queue. */
  waitingPipelineId: string;
  visitorId: string;
  apiToken: string;
  sessionToken: string;
}

export interface Server extends Signalbox<Base & Inserted> {
  /** The number of rows, as a contestant's name. */
  name: string;
  rows: number;
}

export const organization = "bench";
const pipelineCount = 50;
const queueCount = 40;

export function slugOf(place: number): string {
  return `pipeline-${place}`;
}

export async function startServer(
  scratch: Scratch,
  redis: ScratchRedis,
  { rows, postgres }: { rows: number; postgres: string | undefined },
): Promise<Server> {
  const started = await startSignalbox(scratch, redis, {
    name: `rows_${rows}`,
    postgres,
    async seed(services, { databaseUrl }) {
      const base = await createBase(services);
      step(`Making ${rows.toLocaleString("en")} rows`);
      const inserted = await insertRows(services, base, rows);
      if (postgres) await settle(databaseUrl);
      return { ...base, ...inserted };
    },
  });
  return { ...started, name: String(rows), rows };
}

async function createBase(services: Services): Promise<Base> {
  const {
    organization: created,
    operator,
    cluster,
  } = await createScratchOrganization(services, organization);
  const queueIds: string[] = [];
  for (let place = 0; place < queueCount; place++) {
    const queue = { key: `queue-${place}`, isDefault: place === 0 };
    queueIds.push((await createQueue(services, operator, cluster, queue)).id);
  }

  const owner = { operator, clusterId: cluster.id };
  const triggerIds = new Map<string, string>();
  let firstUrl = "";
  for (let place = 0; place < pipelineCount; place++) {
    const made = await createEndpoint(services, owner, { slug: slugOf(place) });
    triggerIds.set(made.pipeline.id, made.trigger.id);
    firstUrl ||= made.deliveryUrl;
  }
  const pipelines = [...triggerIds.keys()];
  const waiting = await createEndpoint(services, owner, { slug: "waiting", agents: { queue: "queue-1" } });
  const scopes = ["read_builds", "read_pipelines", "read_clusters", "write_clusters"];
  const { user, apiToken } = await createAdmin(services, organization, scopes);
  return {
    ...(await createSeed(services, created.id)),
    clusterId: cluster.id,
    queueIds,
    pipelines,
    triggerIds,
    deliveryUrl: firstUrl,
    waitingPipelineId: waiting.pipeline.id,
    visitorId: user.id,
    apiToken,
    sessionToken: (await startSession(services, user, "")) ?? "",
  };
}

/** Postgres would do it while the bench measures. */
async function settle(databaseUrl: string): Promise<void> {
  await onServer(databaseUrl, async (client) => {
    await client.query("vacuum analyze");
    await client.query("checkpoint").catch(() => {}); // only a superuser may
  });
}
