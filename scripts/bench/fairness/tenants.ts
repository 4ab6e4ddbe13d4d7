import { eq } from "drizzle-orm";
import { asOperator, updateOrganization } from "../../../shared/accounts/organizations.ts";
import { startSession } from "../../../shared/accounts/sessions.ts";
import { createApplication } from "../../../shared/oauth/applications.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { createPipeline, defaultStep } from "../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { endpointUrl } from "../../../shared/urls.ts";
import { createDatabase } from "../databases.ts";
import { makeCodes } from "../device/signalbox.ts";
import type { Base } from "../growth/base.ts";
import { newBuild } from "../growth/rows.ts";
import { addTrigger, createAdmin, createBenchOrganization } from "../organization.ts";
import { untilListening } from "../ports.ts";
import { ScratchRedis } from "../redis.ts";
import type { Scratch } from "../scratch.ts";
import { install, withServices } from "../signalbox.ts";

/** An organization and what its admin has. Plain data: it travels to the attacker's process. */
export interface Tenant {
  org: string;
  /** `http://127.0.0.1:<port>` */
  url: string;
  email: string;
  pipelineId: string;
  clusterId: string;
  clusterPath: string;
  triggerPath: string;
  deliveryUrl: string;
  /** The URL of a trigger with the slow filter. */
  filteredUrl: string;
  apiToken: string;
  sessionToken: string;
  /** Approved: the token endpoint gives a grant for it. */
  deviceCode: string;
}

export interface Tenants {
  databaseUrl: string;
  victim: Tenant;
  attacker: Tenant;
}

export const clientId = "bench-refresh";
/** Takes as long as an evaluation may, on 60 KB of x. */
export const slowFilter = 'webhook.payload.a.matches("(x.{900}x.{900}|y.{901}x.{902}|x.{99}y.{999})[pq]$")';

/** Rate limits are out of reach: the bench measures how work is shared. */
const unreachable = "1000000";
const settings = {
  API_REQUESTS_PER_MINUTE: unreachable,
  TRUSTED_PROXIES: "127.0.0.1",
};
const buildsAtOnce = 1000;
const scopes = [
  "read_builds",
  "write_builds",
  "read_pipelines",
  "write_pipelines",
  "read_clusters",
  "write_clusters",
];

/**
 * Starts an ingress and a worker of a new installation with two organizations.
 * @param oldBuilds of the attacker
 */
export async function startTenants(
  scratch: Scratch,
  { postgres, oldBuilds }: { postgres: string | undefined; oldBuilds: number },
): Promise<Tenants> {
  const redis = await ScratchRedis.start(scratch);
  const databaseUrl = await createDatabase(scratch, "fairness", postgres);
  const installation = await install(scratch, redis, { ...settings, DATABASE_URL: databaseUrl });
  const { port, env } = installation;
  const url = `http://127.0.0.1:${port}`;
  const tenants = await withServices(installation, async (services) => {
    const { application } = await createApplication(services, {
      name: "Bench",
      clientId,
      confidential: false,
      deviceFlow: true,
      refreshTokens: true,
    });
    const applicationId = application.id;
    return {
      victim: await createTenant(services, { org: "victim", url, applicationId }),
      attacker: await createTenant(services, { org: "attacker", url, applicationId, oldBuilds }),
    };
  });
  scratch.startScript("ingress", "ingress/main.ts", { env });
  scratch.startScript("worker", "workers/main.ts", { env });
  await untilListening(port);
  return { databaseUrl, ...tenants };
}

async function createTenant(
  services: Services,
  {
    org,
    url,
    applicationId,
    oldBuilds = 0,
  }: { org: string; url: string; applicationId: string; oldBuilds?: number },
): Promise<Tenant> {
  const { cluster } = await createBenchOrganization(services, org);
  const organization = await updateOrganization(services, org, { features: { webhook_filtering: true } });
  const operator = await asOperator(services.db, organization);
  await createQueue(services, operator, cluster, { key: "default", isDefault: true });
  const pipeline = await createPipeline(services, operator, {
    clusterId: cluster.id,
    slug: "web",
    name: "Web",
    steps: [defaultStep],
  });
  await addOldBuilds(services, { organizationId: organization.id, pipelines: [pipeline.id] }, oldBuilds);
  const plain = await addTrigger(services, operator, pipeline);
  const filtered = await addTrigger(services, operator, pipeline, slowFilter);

  const { user, apiToken } = await createAdmin(services, org, scopes);
  const seed = { applicationId, organizationId: organization.id, userId: user.id };
  const [deviceCode = ""] = await makeCodes(services, seed, { progress: "approved", count: 1 });
  return {
    org,
    url,
    email: user.email,
    pipelineId: pipeline.id,
    clusterId: cluster.id,
    clusterPath: pathTo(patterns.cluster, { org, cluster: cluster.id }),
    triggerPath: pathTo(patterns.trigger, { org, slug: "web", trigger: plain.trigger.id }),
    deliveryUrl: endpointUrl(services.config, plain.token),
    filteredUrl: endpointUrl(services.config, filtered.token),
    apiToken,
    sessionToken: (await startSession(services, user, "")) ?? "",
    deviceCode,
  };
}

/** Adds builds that have finished. */
async function addOldBuilds(
  { db, clock }: Services,
  owner: Pick<Base, "organizationId" | "pipelines">,
  count: number,
): Promise<void> {
  const numbers: number[] = [];
  const time = clock.now();
  for (let start = 0; start < count; start += buildsAtOnce) {
    const builds = Array.from({ length: Math.min(buildsAtOnce, count - start) }, () => ({
      ...newBuild(owner, numbers, { index: 0, count, time }),
      deliveryId: null,
    }));
    await db.transaction(async (tx) => {
      await tx.insertMany(tx.tables.builds, builds);
      const [pipelineId = ""] = owner.pipelines;
      const { pipelines } = tx.tables;
      await tx.update(pipelines).set({ lastBuildNumber: numbers[0] }).where(eq(pipelines.id, pipelineId));
    });
  }
}
