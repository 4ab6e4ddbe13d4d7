import { startSession } from "../../../shared/accounts/sessions.ts";
import { createAgentToken } from "../../../shared/agents/tokens.ts";
import { createBuilds } from "../../../shared/builds/making/builds.ts";
import { createApplication } from "../../../shared/oauth/applications.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { createAdmin, createEndpoint, createFilteringOrganization } from "../../scratch/organization.ts";

/** An organization and what its admin has. Plain data: it travels to other processes. */
export type Tenant = Awaited<ReturnType<typeof createTenant>>["tenant"];

/** The application of devices, which the other servers know too. */
export const client = { id: "bench-device", scopes: ["read_builds", "write_builds", "read_pipelines"] };

/** The services' side of a tenant. */
export type Owner = Awaited<ReturnType<typeof createTenant>>["owner"];

/** Fills in a pattern that is not known before it runs. */
export const pathOf = pathTo as unknown as (pattern: string, members: Record<string, string>) => string;

const resources = ["builds", "pipelines", "clusters"];
const scopes = resources.flatMap((resource) => [`read_${resource}`, `write_${resource}`]);

/** Registers the device client. @returns its id */
export async function createClient(services: Services, refreshTokens = false): Promise<string> {
  const flags = { confidential: false, deviceFlow: true, refreshTokens, accessTokenMinutes: 60 };
  const { application } = await createApplication(services, { name: "Bench", clientId: client.id, ...flags });
  return application.id;
}

/** Makes an organization with a pipeline, a trigger, a cluster with its default queue, and an admin. */
export async function createTenant(
  services: Services,
  {
    org = "bench",
    applicationId = "",
    filter,
  }: { org?: string; applicationId?: string; filter?: string } = {},
) {
  const { organization, operator, cluster, queue } = await createFilteringOrganization(services, org);
  const slug = "web";
  const made = await createEndpoint(services, { operator, clusterId: cluster.id }, { slug, filter });
  const { pipeline, trigger, deliveryUrl } = made;
  const { user, apiToken } = await createAdmin(services, org, scopes);
  const input = { description: "Bench", queueId: null, expiresAt: null };
  const url = `http://127.0.0.1:${services.config.port}`;
  const to = (pattern: string, members: Record<string, string> = {}) =>
    url + pathOf(pattern, { org, ...members });
  const tenant = {
    url,
    org,
    deliveryUrl,
    apiToken,
    applicationId,
    slug,
    email: user.email,
    organizationId: organization.id,
    userId: user.id,
    clusterId: cluster.id,
    queueId: queue.id,
    pipelineId: pipeline.id,
    triggerId: trigger.id,
    agentToken: (await createAgentToken(services, operator, cluster, input)).token,
    cookie: `signalbox=${(await startSession(services, user, "")) ?? ""}`,
    /** URLs. */
    pages: {
      pipeline: to(patterns.pipelinePage, { slug }),
      cluster: to(patterns.clusterPage, { cluster: cluster.id }),
      auditFile: to(patterns.auditFile),
    },
    rest: {
      builds: to(patterns.builds),
      pipelines: to(patterns.pipelines),
      cluster: to(patterns.cluster, { cluster: cluster.id }),
      trigger: to(patterns.trigger, { slug, trigger: trigger.id }),
    },
  };
  return { tenant, owner: { organization, operator, cluster, pipeline, trigger } };
}

const rowsAtOnce = 1000;

/** Makes builds whose jobs wait. */
export async function addBuilds(services: Services, pipelineId: string, count: number): Promise<void> {
  const { db, clock } = services;
  const request = {
    pipelineId,
    deliveryId: null,
    source: "webhook" as const,
    environmentSealed: null,
    message: "Light the harbour",
    commit: "HEAD",
    branch: "main",
  };
  for (let done = 0; done < count; done += rowsAtOnce) {
    const requests = Array.from({ length: Math.min(rowsAtOnce, count - done) }, () => request);
    await db.transaction((tx) => createBuilds(tx, services, requests, clock.now()));
  }
}
