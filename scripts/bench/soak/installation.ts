import { startSession } from "../../../shared/accounts/sessions.ts";
import { createAgentToken } from "../../../shared/agents/tokens.ts";
import { createApplication } from "../../../shared/oauth/applications.ts";
import { createPipeline, defaultStep } from "../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { endpointUrl } from "../../../shared/urls.ts";
import { freePort } from "../../../test/servers/ports.ts";
import { createDatabase, findPostgres } from "../databases.ts";
import type { Pids } from "../machine/cpu.ts";
import { addTrigger, createAdmin, createBenchOrganization } from "../organization.ts";
import { untilListening } from "../ports.ts";
import { ScratchRedis } from "../redis.ts";
import { pidsOf, type Scratch } from "../scratch.ts";
import { type Installation, install, withServices } from "../signalbox.ts";

/** Addresses and credentials for callers. */
export interface Seed {
  organizationId: string;
  deliveryPath: string;
  agentToken: string;
  /** The cookie of a browser that is signed in, and approves devices. */
  cookie: string;
}

export interface Soaked extends Seed {
  installation: Installation;
  url: string;
  redisUrl: string;
  pids: Pids;
  /** Ports of metrics, by process. */
  metricsPorts: Record<string, number>;
}

export const organization = "soak";
export const clientId = "soak-device";
/** Rate limits are out of reach. */
const perMinute = "1000000000";

/** Starts an ingress process and a worker of a new installation, with default settings but for the cap. */
export async function startSoaked(
  scratch: Scratch,
  { postgres, maxPayloadBytes }: { postgres: string | undefined; maxPayloadBytes: number },
): Promise<Soaked> {
  const redis = await ScratchRedis.start(scratch);
  const installation = await install(scratch, redis, {
    DATABASE_URL: await createDatabase(scratch, "soak", postgres),
    PAYLOAD_BYTES_PER_ORGANIZATION: String(maxPayloadBytes),
    DEVICE_AUTHORIZATIONS_PER_MINUTE_AND_CLIENT: perMinute,
    TRUSTED_PROXIES: "127.0.0.1",
  });
  const seed = await withServices(installation, createSeed);
  const { port, env } = installation;
  const metricsPorts = { ingress: await freePort(), worker: await freePort() };
  const envOf = (name: keyof typeof metricsPorts) => ({ ...env, METRICS_PORT: String(metricsPorts[name]) });
  const ingress = scratch.startScript("ingress", "ingress/main.ts", { env: envOf("ingress") });
  const worker = scratch.startScript("worker", "workers/main.ts", { env: envOf("worker") });
  await Promise.all([port, ...Object.values(metricsPorts)].map(untilListening));
  return {
    ...seed,
    installation,
    url: `http://127.0.0.1:${port}`,
    redisUrl: redis.url,
    metricsPorts,
    pids: { ...pidsOf({ ingress, worker, Redis: redis }), ...(await findPostgres(postgres)) },
  };
}

async function createSeed(services: Services): Promise<Seed> {
  const { organization: created, operator, cluster } = await createBenchOrganization(services, organization);
  await createQueue(services, operator, cluster, { key: "default", isDefault: true });
  const input = { clusterId: cluster.id, slug: "web", name: "Web", steps: [defaultStep] };
  const pipeline = await createPipeline(services, operator, input);
  const { token } = await addTrigger(services, operator, pipeline);
  const { user } = await createAdmin(services, organization, ["read_builds"]);
  await createApplication(services, {
    name: "Soak",
    clientId,
    confidential: false,
    deviceFlow: true,
    refreshTokens: false,
  });
  const { token: agentToken } = await createAgentToken(services, operator, cluster, {
    description: "Soak",
    queueId: null,
    expiresAt: null,
  });
  return {
    organizationId: created.id,
    deliveryPath: new URL(endpointUrl(services.config, token)).pathname,
    agentToken,
    cookie: `signalbox=${await startSession(services, user, "")}`,
  };
}
