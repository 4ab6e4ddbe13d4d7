import { startSession } from "../../../shared/accounts/sessions.ts";
import { createAgentToken } from "../../../shared/agents/tokens.ts";
import { createNotificationService } from "../../../shared/notifications/notification-services.ts";
import { webhookEvents } from "../../../shared/notifications/settings.ts";
import { createApplication } from "../../../shared/oauth/applications.ts";
import { createPipeline } from "../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import type { Services } from "../../../shared/services/services.ts";
import { createTrigger } from "../../../shared/triggers/create.ts";
import type { NewTrigger } from "../../../shared/triggers/members.ts";
import { createAdmin, createFilteringOrganization } from "../../scratch/organization.ts";
import { provedSteps } from "./steps.ts";

export interface ProveTrigger {
  name: "plain" | "signed by github" | "signed by the issue tracker" | "filtered";
  token: string;
  /** The trigger checks this signature of its secret. */
  signature?: { header: string; prefix: string };
}

export type ProveOrganization = Awaited<ReturnType<typeof createProveOrganization>>;

export const triggerSecret = "a secret of the senders";
const secret = triggerSecret;
const slug = "prove";
/** The last two are triggered by steps of others. */
const pipelineSlugs = ["web", "app", "graph", "release", "small"] as const;
const triggers: (Omit<ProveTrigger, "token"> & { pipeline: number; input: Partial<NewTrigger> })[] = [
  { name: "plain", pipeline: 0, input: {} },
  {
    name: "signed by github",
    pipeline: 1,
    signature: { header: "X-Hub-Signature-256", prefix: "sha256=" },
    input: { type: "github", secret },
  },
  {
    name: "signed by the issue tracker",
    pipeline: 2,
    signature: { header: "Linear-Signature", prefix: "" },
    input: { type: "linear", secret },
  },
  { name: "filtered", pipeline: 1, input: { filter: "webhook.payload.builds == true" } },
];
const scopes = ["read_clusters", "write_clusters", "read_builds", "write_builds"];

/**
 * Makes pipelines, triggers of each kind, and what agents, devices and people need.
 * @param receiverUrl the address of a receiver of builds
 */
export async function createProveOrganization(services: Services, marksFolder: string, receiverUrl?: string) {
  const { operator, cluster, organization } = await createFilteringOrganization(services, slug);
  const queueIds: string[] = [];
  for (const key of ["linux", "mac"])
    queueIds.push((await createQueue(services, operator, cluster, { key })).id);
  const steps = provedSteps(marksFolder);
  const pipelines: Awaited<ReturnType<typeof createPipeline>>[] = [];
  for (const name of pipelineSlugs) {
    const input = { clusterId: cluster.id, slug: name, name, steps: steps[name] };
    pipelines.push(await createPipeline(services, operator, input));
  }
  const made: ProveTrigger[] = [];
  for (const { name, signature, pipeline, input } of triggers) {
    const whole = { type: "webhook", label: name, ...input };
    const built = pipelines[pipeline] as (typeof pipelines)[number];
    made.push({ name, signature, token: (await createTrigger(services, operator, built, whole)).token });
  }
  if (receiverUrl !== undefined) {
    const settings = {
      url: receiverUrl,
      events: webhookEvents.filter((event) => event.startsWith("build.")),
    };
    await createNotificationService(services, operator, {
      provider: "webhook",
      description: "prove",
      settings,
    });
  }
  const { user, apiToken } = await createAdmin(services, slug, scopes);
  const flags = { confidential: false, deviceFlow: true, refreshTokens: false };
  const { application } = await createApplication(services, { name: "Prove", ...flags });
  const ofAgents = { description: "prove", queueId: null, expiresAt: null };
  return {
    id: organization.id,
    slug,
    clusterId: cluster.id,
    queueIds,
    pipelineSlugs,
    triggers: made,
    /** The token of a REST client that may pause queues, and cancel and unblock builds. */
    apiToken,
    /** Registers agents. */
    agentToken: (await createAgentToken(services, operator, cluster, ofAgents)).token,
    /** The cookie of a browser that is signed in, and approves devices. */
    cookie: `signalbox=${await startSession(services, user, "")}`,
    clientId: application.clientId,
  };
}
