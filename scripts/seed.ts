import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { authenticate, createAccessToken } from "../shared/accounts/access-tokens.ts";
import { listOrganizations } from "../shared/accounts/organization-store.ts";
import { asOperator, createOrganization, updateOrganization } from "../shared/accounts/organizations.ts";
import type { Scope } from "../shared/accounts/scopes.ts";
import { createUser } from "../shared/accounts/users.ts";
import { createAgentToken } from "../shared/agents/tokens.ts";
import { createCluster } from "../shared/clusters/clusters.ts";
import { hashToken } from "../shared/crypto/tokens.ts";
import { createApplication } from "../shared/oauth/applications.ts";
import { createPipeline } from "../shared/pipelines/pipelines.ts";
import { findPipeline } from "../shared/pipelines/store.ts";
import { createQueue } from "../shared/queues/queues.ts";
import type { Services } from "../shared/services/services.ts";
import { createTrigger } from "../shared/triggers/create.ts";
import { findTriggerByToken } from "../shared/triggers/store.ts";
import type { CommandStep } from "../shared/vocabulary.ts";
import { loginClientId } from "./login/defaults.ts";

/** Secrets in clear: the database has only hashes. Keyed by organization id, for several databases in one folder. */
const demoFile = "data/demo.json";

const secrets = z.object({
  trigger_token: z.string(),
  agent_token: z.string(),
  api_token: z.string(),
  email: z.string(),
  password: z.string(),
});
type Secrets = z.infer<typeof secrets>;
const demoFileContent = z.record(z.string(), secrets);

export const demoOrganization = "demo";
export const demoPipeline = "hello";
const demoQueue = "default";
const email = "demo@example.com";
const scopes: Scope[] = [
  "read_organizations",
  "read_pipelines",
  "read_builds",
  "read_clusters",
  "read_agents",
  "read_build_logs",
  "write_builds",
];

export interface Demo {
  triggerToken: string;
  /** Registers agents of the demo's queue. */
  agentToken: string;
  apiToken: string;
  email: string;
  password: string;
  /** Number of the next build. */
  nextBuild: number;
  /** Made at this start. */
  isNew: boolean;
}

/**
 * Makes the demo only if there is no organization.
 * @returns undefined if its secrets are unknown here or revoked
 */
export async function findOrMakeDemo(services: Services): Promise<Demo | undefined> {
  const organizations = await listOrganizations(services.db);
  const isNew = organizations.length === 0;
  const known = isNew ? await makeDemo(services) : findSecrets(organizations);
  const demo = known && (await findDemo(services, known));
  if (!demo) return undefined;
  return { ...demo, isNew };
}

function findSecrets(organizations: { id: string }[]): Secrets | undefined {
  const kept = readSecrets();
  return organizations.map(({ id }) => kept[id]).find((secrets) => secrets !== undefined);
}

async function makeDemo(services: Services): Promise<Secrets> {
  const organization = demoOrganization;
  const created = await createOrganization(services, { slug: organization, name: "Demo" });
  await updateOrganization(services, organization, { features: { webhook_filtering: true } });
  const operator = await asOperator(services.db, created);
  const cluster = await createCluster(services, operator, { name: "Primary" });
  const queue = await createQueue(services, operator, cluster, { key: demoQueue, isDefault: true });
  const pipeline = await createPipeline(services, operator, {
    clusterId: cluster.id,
    slug: demoPipeline,
    name: "Hello",
    steps: [greet(services.config.serviceName)],
  });
  const trigger = await createTrigger(services, operator, pipeline, {
    type: "webhook",
    label: "Demo",
    buildMessage: "Built from a webhook",
  });

  const password = randomBytes(15).toString("base64url");
  await createUser(services, { email, name: "Demo", password, organization, role: "admin" });
  const { token: apiToken } = await createAccessToken(services, {
    email,
    organization,
    scopes,
    description: "Demo",
  });

  const { token: agentToken } = await createAgentToken(services, operator, cluster, {
    description: "The demo's agent",
    queueId: queue.id,
    expiresAt: null,
  });
  await registerLogin(services);

  const tokens = { trigger_token: trigger.token, agent_token: agentToken, api_token: apiToken };
  const made: Secrets = { ...tokens, email, password };
  const all = { ...readSecrets(), [created.id]: made };
  writeFileSync(demoFile, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
  return made;
}

/** Prints a field of the webhook's payload. Builds that nobody posted have none. */
function greet(serviceName: string): CommandStep {
  const withoutPayload = { hello: "nobody: no webhook made this build, so it has no payload" };
  const otherwise = "nobody: the payload of this build has no member hello";
  const read = `signalbox-agent meta-data get ${serviceName}:webhook --default '${JSON.stringify(withoutPayload)}'`;
  return {
    label: "Greet",
    command: `${read} | node -p '"Hello, " + (JSON.parse(fs.readFileSync(0))?.hello ?? "${otherwise}")'`,
  };
}

/** For `npm run login`. */
async function registerLogin(services: Services): Promise<void> {
  await createApplication(services, {
    name: "Signalbox CLI",
    clientId: loginClientId,
    confidential: false,
    deviceFlow: true,
    refreshTokens: true,
  });
}

function readSecrets(): Record<string, Secrets> {
  try {
    return demoFileContent.parse(JSON.parse(readFileSync(demoFile, "utf8")));
  } catch {
    return {}; // absent or edited: no demo to show
  }
}

async function findDemo(services: Services, known: Secrets): Promise<Omit<Demo, "isNew"> | undefined> {
  const trigger = await findTriggerByToken(services.db, hashToken(known.trigger_token));
  const caller = await authenticate(services, known.api_token);
  if (!trigger?.trigger.enabled || trigger.organizationId !== caller?.organization.id) return undefined;

  const pipeline = await findPipeline(services.db, {
    organizationId: trigger.organizationId,
    slug: demoPipeline,
  });
  if (!pipeline) return undefined;
  return {
    triggerToken: known.trigger_token,
    agentToken: known.agent_token,
    apiToken: known.api_token,
    email: known.email,
    password: known.password,
    nextBuild: pipeline.lastBuildNumber + 1,
  };
}
