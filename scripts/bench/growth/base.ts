import { createAccessToken } from "../../../shared/accounts/access-tokens.ts";
import { asOperator, createOrganization } from "../../../shared/accounts/organizations.ts";
import { insertSession } from "../../../shared/accounts/session-store.ts";
import { createUser } from "../../../shared/accounts/users.ts";
import { createCluster } from "../../../shared/clusters/clusters.ts";
import { hashToken, issueToken } from "../../../shared/crypto/tokens.ts";
import { dayMs } from "../../../shared/durations.ts";
import { createPipeline, defaultStep } from "../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { createTrigger } from "../../../shared/triggers/create.ts";
import { endpointUrl } from "../../../shared/urls.ts";
import { createSeed, type Seed } from "../device/signalbox.ts";
import { newTrigger } from "../signalbox.ts";

/** An organization without builds: as many pipelines and queues, however many rows come. */
export interface Base extends Seed {
  clusterId: string;
  /** The first is the default. */
  queueIds: string[];
  /** Ids. The first is the busiest. */
  pipelines: string[];
  /** By pipeline. */
  triggerIds: Map<string, string>;
  /** Of the first pipeline. */
  deliveryUrl: string;
  visitorId: string;
  apiToken: string;
  sessionToken: string;
}

export const organization = "bench";
const pipelineCount = 50;
const queueCount = 40;
/** Too high to be reached: the bench measures work, not limits. */
const deliveriesPerHour = 1_000_000_000;

export function slugOf(place: number): string {
  return `pipeline-${place}`;
}

export async function createBase(services: Services): Promise<Base> {
  const created = await createOrganization(services, {
    slug: organization,
    name: "Bench",
    deliveriesPerHour,
  });
  const operator = await asOperator(services.db, created);
  const cluster = await createCluster(services, operator, { name: "Bench" });
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
    const { trigger, token } = await createTrigger(services, operator, pipeline, newTrigger);
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
  const email = "ada@example.com";
  const password = "not for signing in";
  const user = await createUser(services, { email, name: "Ada", password, organization, role: "admin" });
  const scopes = ["read_builds", "read_pipelines", "read_clusters"];
  const { token } = await createAccessToken(services, { email, organization, scopes, description: "bench" });
  const sessionToken = issueToken("session");
  const createdAt = services.clock.now();
  const expiresAt = new Date(createdAt.getTime() + dayMs);
  const session = { tokenHash: hashToken(sessionToken), userId: user.id, createdAt, expiresAt };
  await services.db.transaction((tx) => insertSession(tx, session));
  return { visitorId: user.id, apiToken: token, sessionToken };
}
