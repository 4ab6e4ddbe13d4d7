import { startSession } from "../../../shared/accounts/sessions.ts";
import { createAgentToken } from "../../../shared/agents/tokens.ts";
import { createApplication } from "../../../shared/oauth/applications.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import {
  addTrigger,
  createAdmin,
  createEndpoint,
  createFilteringOrganization,
} from "../../scratch/organization.ts";
import type { Scratch } from "../../scratch/scratch.ts";
import { makeCodes } from "../device/codes.ts";
import { startRedis } from "../redis.ts";
import { type Signalbox, startSignalbox } from "../signalbox.ts";
import type { Prepare, Prepared } from "./preparations.ts";

/** An organization and what its admin has. Plain data: it travels to the attacker's process. */
export interface Tenant extends Prepared {
  org: string;
  /** `http://127.0.0.1:<port>` */
  url: string;
  email: string;
  pipelineId: string;
  /** URLs. */
  pages: { pipeline: string; cluster: string; auditFile: string };
  rest: { builds: string; pipelines: string; cluster: string; trigger: string };
  deliveryUrl: string;
  /** The URL of a trigger with the slow filter. */
  filteredUrl: string;
  apiToken: string;
  agentToken: string;
  sessionToken: string;
  /** Approved: the token endpoint gives a grant for it. */
  deviceCode: string;
}

export interface Tenants {
  databaseUrl: string;
  ingressPid: number;
  victim: Tenant;
  attacker: Tenant;
}

export const clientId = "bench-refresh";
/** Takes as long as an evaluation may, on 60 KB of x. */
export const slowFilter = 'webhook.payload.a.matches("(x.{900}x.{900}|y.{901}x.{902}|x.{99}y.{999})[pq]$")';

const slug = "web";
const resources = ["builds", "pipelines", "clusters"];
const scopes = resources.flatMap((resource) => [`read_${resource}`, `write_${resource}`]);

/**
 * Starts an ingress and a worker of a new installation with two organizations.
 * @param prepare makes rows of the attacker
 */
export async function startTenants(
  scratch: Scratch,
  { postgres, prepare }: { postgres: string | undefined; prepare: Prepare | undefined },
): Promise<Tenants> {
  const { seed, databaseUrl, pids, startWorker } = await startSignalbox(scratch, await startRedis(scratch), {
    name: "fairness",
    postgres,
    settings: { TRUSTED_PROXIES: "127.0.0.1" },
    async seed(services) {
      const applicationId = await createClient(services);
      const create = (org: string, prepare?: Prepare) =>
        createTenant(services, { org, applicationId, prepare });
      return { victim: await create("victim"), attacker: await create("attacker", prepare) };
    },
  });
  await startWorker();
  return { databaseUrl, ingressPid: pids.server ?? 0, ...seed };
}

/** Starts an ingress and a worker of a new installation with one organization. */
export async function startAlone(
  scratch: Scratch,
  { prepare, ...options }: { name: string; postgres: string | undefined; starter?: string; prepare: Prepare },
): Promise<Signalbox<Tenant>> {
  const started = await startSignalbox(scratch, await startRedis(scratch), {
    ...options,
    seed: async (services) =>
      createTenant(services, { org: "alone", applicationId: await createClient(services), prepare }),
  });
  await started.startWorker();
  return started;
}

/** @returns the id of the application that refreshes tokens */
async function createClient(services: Services): Promise<string> {
  const flags = { confidential: false, deviceFlow: true, refreshTokens: true };
  const { application } = await createApplication(services, { name: "Bench", clientId, ...flags });
  return application.id;
}

async function createTenant(
  services: Services,
  { org, applicationId, prepare }: { org: string; applicationId: string; prepare: Prepare | undefined },
): Promise<Tenant> {
  const url = `http://127.0.0.1:${services.config.port}`;
  const { organization, operator, cluster } = await createFilteringOrganization(services, org);
  const owner = { operator, clusterId: cluster.id };
  const { pipeline, trigger, deliveryUrl } = await createEndpoint(services, owner, { slug });
  const prepared = await prepare?.(services, { org, operator, cluster, pipeline });
  const filtered = await addTrigger(services, operator, { pipeline, filter: slowFilter });
  const { user, apiToken } = await createAdmin(services, org, scopes);
  const input = { description: "Bench", queueId: null, expiresAt: null };
  const seed = { applicationId, organizationId: organization.id, userId: user.id };
  const [deviceCode = ""] = await makeCodes(services, seed, { progress: "approved", count: 1 });
  return {
    org,
    url,
    email: user.email,
    pipelineId: pipeline.id,
    pages: {
      pipeline: url + pathTo(patterns.pipelinePage, { org, slug }),
      cluster: url + pathTo(patterns.clusterPage, { org, cluster: cluster.id }),
      auditFile: url + pathTo(patterns.auditFile, { org }),
    },
    rest: {
      builds: url + pathTo(patterns.builds, { org }),
      pipelines: url + pathTo(patterns.pipelines, { org }),
      cluster: url + pathTo(patterns.cluster, { org, cluster: cluster.id }),
      trigger: url + pathTo(patterns.trigger, { org, slug, trigger: trigger.id }),
    },
    deliveryUrl,
    filteredUrl: filtered.deliveryUrl,
    apiToken,
    agentToken: (await createAgentToken(services, operator, cluster, input)).token,
    sessionToken: (await startSession(services, user, "")) ?? "",
    deviceCode,
    ...prepared,
  };
}
