import { createAccessToken } from "../../shared/accounts/access-tokens.ts";
import { updateOrganization } from "../../shared/accounts/organizations.ts";
import type { Scope } from "../../shared/accounts/scopes.ts";
import type { User } from "../../shared/accounts/user-store.ts";
import { type BuildRequest, createBuilds } from "../../shared/builds/making/builds.ts";
import type { Feature, Step } from "../../shared/vocabulary.ts";
import type { TestDatabase } from "./databases.ts";
import { type Answer, request } from "./http.ts";
import { addPerson, setUpOrganization } from "./organization.ts";
import { startWorld, type World } from "./world.ts";

export type Api = Awaited<ReturnType<typeof openApi>>;

export interface Sent {
  /** Default: the admin's. Null sends none. */
  token?: string | null;
  body?: unknown;
  /** Sent unchanged, with no content type of its own. */
  raw?: string | Buffer<ArrayBuffer>;
  headers?: Record<string, string>;
  url?: string;
}

export const base = "https://api.example.com/v2/organizations/acme";
export const webBase = "https://app.example.com/organizations/acme";
export const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const unknownId = "0198c0de-0000-7000-8000-000000000000";

export const graphqlId = (type: string, id: string) => Buffer.from(`${type}---${id}`).toString("base64");

const allScopes: Scope[] = [
  "read_clusters",
  "write_clusters",
  "read_pipelines",
  "write_pipelines",
  "read_user",
  "write_user",
  "read_builds",
  "write_builds",
  "read_agents",
  "write_agents",
  "read_job_env",
  "read_build_logs",
  "write_build_logs",
  "read_secrets_details",
  "write_secrets",
  "read_organization_settings",
  "write_organization_settings",
  "read_organization_repository_connections",
  "write_organization_repository_connections",
  "read_notification_services",
  "write_notification_services",
  "read_artifacts",
  "write_artifacts",
];

export const ordinarySettings = {
  BASE_URL: "https://api.example.com",
  APP_URL: "https://app.example.com",
  API_REQUESTS_PER_MINUTE: "100000",
};

/** Starts an installation with an admin of `acme`. */
export async function openApi(database: TestDatabase, settings: Record<string, string> = {}) {
  const world = await startWorld(database, { ...ordinarySettings, ...settings });
  const acme = await setUpOrganization(world);
  const admin = await addPerson(world, acme, "admin");
  const tokenOf = async (user: User, scopes: Scope[] = allScopes, organization = "acme") => {
    const token = { email: user.email, organization, scopes, description: "" };
    return (await createAccessToken(world.services, token)).token;
  };
  const adminToken = await tokenOf(admin);

  const send = (method: string, path: string, sent: Sent = {}): Promise<Answer> => {
    const { token = adminToken, body, raw, headers, url = world.url } = sent;
    return request(`${url}/v2/organizations/acme${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? raw : JSON.stringify(body),
    });
  };
  const queues = `/clusters/${acme.cluster.id}/queues`;
  const make = async (path: string, body: unknown) => {
    const answer = await send("POST", path, { body });
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };

  return {
    world,
    acme,
    admin,
    adminToken,
    tokenOf,
    send,
    queues,
    present: {
      cluster: acme.cluster.id,
      queue: acme.queue.id,
      slug: "web",
      number: "1",
      trigger: unknownId,
      delivery: unknownId,
      push: unknownId,
      rebuild: unknownId,
      service: unknownId,
      agent: unknownId,
      job: unknownId,
      artifact: unknownId,
      annotation: unknownId,
      stack: unknownId,
      upload: unknownId,
    },
    newCluster: (body: object = {}) => make("/clusters", { name: unique("Cluster"), ...body }),
    newQueue: (body: object = {}, cluster: string = acme.cluster.id) =>
      make(`/clusters/${cluster}/queues`, { key: unique("queue"), ...body }),
    newPipeline: (body: object = {}) =>
      make("/pipelines", { ...pipelineBody(acme.cluster.id), ...body }) as Promise<Made>,
    build: (pipelineId: string, amount = 1) => build(world, pipelineId, amount),
    features: (features: Partial<Record<Feature, boolean>>) =>
      updateOrganization(world.services, "acme", { features }),
    close: () => world.close(),
  };
}

interface Made {
  id: string;
  slug: string;
  steps: Step[];
}

export function pipelineBody(clusterId: string) {
  return { name: unique("Pipeline"), cluster_id: clusterId, steps: [{ command: "make" }] };
}

let made = 0;

export function unique(prefix: string): string {
  return `${prefix}-${++made}`;
}

export async function build(
  { services, clock }: Pick<World, "services" | "clock">,
  pipelineId: string,
  amount: number,
): Promise<void> {
  const requests = Array(amount).fill(buildRequest(pipelineId));
  await services.db.transaction((tx) => createBuilds(tx, services, requests, clock.now()));
}

export function buildRequest(pipelineId: string): BuildRequest {
  return {
    pipelineId,
    deliveryId: null,
    source: "webhook",
    message: "m",
    commit: "HEAD",
    branch: "main",
    environmentSealed: null,
  };
}

export function linkHeader({ headers }: { headers: Headers }): string | null {
  return headers.get("link")?.replaceAll(/&after=[\w-]{32}/g, "") ?? null;
}
