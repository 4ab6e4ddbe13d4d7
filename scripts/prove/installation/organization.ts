import { startSession } from "../../../shared/accounts/sessions.ts";
import { createAgentToken } from "../../../shared/agents/tokens.ts";
import { createNotificationService } from "../../../shared/notifications/notification-services.ts";
import { webhookEvents } from "../../../shared/notifications/settings.ts";
import { createApplication } from "../../../shared/oauth/applications.ts";
import { createPipeline } from "../../../shared/pipelines/pipelines.ts";
import { openWebhook } from "../../../shared/pipelines/provider/webhook.ts";
import { findWebhook } from "../../../shared/pipelines/provider/webhook-store.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import type { Services } from "../../../shared/services/services.ts";
import { createTrigger } from "../../../shared/triggers/create.ts";
import type { NewTrigger } from "../../../shared/triggers/members.ts";
import { createAdmin, createFilteringOrganization } from "../../scratch/organization.ts";
import { repository } from "../traffic/bodies.ts";
import { provedSteps } from "./steps.ts";

/** The pipelines whose repository is at a source host, and the event by which that reports a push. */
const pushed = {
  github: { host: "github.com", header: "X-Hub-Signature-256", event: ["X-GitHub-Event", "push"] },
  bitbucket: { host: "bitbucket.org", header: "X-Hub-Signature", event: ["X-Event-Key", "repo:push"] },
} as const;
type Host = keyof typeof pushed;

export interface ProveTrigger {
  name: "plain" | "signed by github" | "signed by the issue tracker" | "filtered" | `push of ${Host}`;
  token: string;
  /** The trigger checks this signature. */
  signature?: { header: string; prefix: string; secret: string };
  /** The header of an event that a pipeline's provider reports. */
  event?: readonly [header: string, name: string];
}

export function isPush({ name }: Pick<ProveTrigger, "name">): boolean {
  return name.startsWith("push of ");
}

export type ProveOrganization = Awaited<ReturnType<typeof createProveOrganization>>;

const secret = "a secret of the senders";
const slug = "prove";
/** `release` and `small` are triggered by steps of others. */
const pipelineSlugs = ["web", "app", "graph", "release", "small", "github", "bitbucket"] as const;
const triggers: (Omit<ProveTrigger, "token"> & { pipeline: number; input: Partial<NewTrigger> })[] = [
  { name: "plain", pipeline: 0, input: {} },
  {
    name: "signed by github",
    pipeline: 1,
    signature: { header: "X-Hub-Signature-256", prefix: "sha256=", secret },
    input: { type: "github", secret },
  },
  {
    name: "signed by the issue tracker",
    pipeline: 2,
    signature: { header: "Linear-Signature", prefix: "", secret },
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
    const input = { clusterId: cluster.id, slug: name, name };
    pipelines.push(
      await (name === "github" || name === "bitbucket"
        ? createPipeline(services, operator, { ...input, steps: steps.small, repository: repositoryAt(name) })
        : createPipeline(services, operator, { ...input, steps: steps[name] })),
    );
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
  for (const { id, slug } of pipelines)
    if (slug === "github" || slug === "bitbucket") made.push(await openDoor(services, id, slug));
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

function repositoryAt(host: Host): string {
  return `https://${pushed[host].host}/${repository}.git`;
}

/** The webhook of a pipeline's provider. */
async function openDoor(services: Services, pipelineId: string, host: Host): Promise<ProveTrigger> {
  const webhook = await findWebhook(services.db, { pipelineId });
  if (!webhook) throw new Error(`The pipeline ${host} has no webhook.`);
  const { webhookUrl, secret } = openWebhook(services, webhook);
  const { header, event } = pushed[host];
  const signature = { header, prefix: "sha256=", secret: secret ?? "" };
  return { name: `push of ${host}`, token: webhookUrl.split("/").at(-1) ?? "", signature, event };
}
