import { startSession } from "../../../shared/accounts/sessions.ts";
import { createPipeline, defaultStep } from "../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { endpointUrl } from "../../../shared/urls.ts";
import { createSeed, type Seed } from "../device/signalbox.ts";
import { addTrigger, createAdmin, createBenchOrganization } from "../organization.ts";

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
  visitorId: string;
  apiToken: string;
  sessionToken: string;
}

export const organization = "bench";
const pipelineCount = 50;
const queueCount = 40;

export function slugOf(place: number): string {
  return `pipeline-${place}`;
}

export async function createBase(services: Services): Promise<Base> {
  const { organization: created, operator, cluster } = await createBenchOrganization(services, organization);
  const queueIds: string[] = [];
  for (let place = 0; place < queueCount; place++) {
    const queue = { key: `queue-${place}`, isDefault: place === 0 };
    queueIds.push((await createQueue(services, operator, cluster, queue)).id);
  }

  const triggerIds = new Map<string, string>();
  let deliveryUrl = "";
  for (let place = 0; place < pipelineCount; place++) {
    const input = { clusterId: cluster.id, slug: slugOf(place), name: slugOf(place), steps: [defaultStep] };
    const pipeline = await createPipeline(services, operator, input);
    const { trigger, token } = await addTrigger(services, operator, pipeline);
    triggerIds.set(pipeline.id, trigger.id);
    deliveryUrl ||= endpointUrl(services.config, token);
  }

  return {
    ...(await createSeed(services, created.id)),
    ...(await createVisitor(services)),
    clusterId: cluster.id,
    queueIds,
    pipelines: [...triggerIds.keys()],
    triggerIds,
    deliveryUrl,
  };
}

/** An admin with an API token and a session. */
async function createVisitor(services: Services) {
  const scopes = ["read_builds", "read_pipelines", "read_clusters"];
  const { user, apiToken } = await createAdmin(services, organization, scopes);
  return { visitorId: user.id, apiToken, sessionToken: (await startSession(services, user, "")) ?? "" };
}
