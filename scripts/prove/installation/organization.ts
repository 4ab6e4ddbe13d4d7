import { updateOrganization } from "../../../shared/accounts/organizations.ts";
import { startSession } from "../../../shared/accounts/sessions.ts";
import { createAgentToken } from "../../../shared/agents/tokens.ts";
import { createApplication } from "../../../shared/oauth/applications.ts";
import { createPipeline } from "../../../shared/pipelines/pipelines.ts";
import type { Services } from "../../../shared/process/services.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import { createTrigger } from "../../../shared/triggers/create.ts";
import { type NewTrigger, plainTrigger } from "../../../shared/triggers/input.ts";
import { createAdmin, createScratchOrganization } from "../../scratch/organization.ts";
import { provedSteps } from "./steps.ts";

export interface ProveTrigger {
  name: "plain" | "signed by github" | "signed by the issue tracker" | "filtered";
  token: string;
  /** The trigger checks this signature of its secret. */
  signature?: { header: string; prefix: string };
}

export interface ProveOrganization {
  id: string;
  slug: string;
  clusterId: string;
  queueIds: string[];
  pipelineSlugs: string[];
  triggers: ProveTrigger[];
  /** The token of a REST client that may pause queues, and cancel and unblock builds. */
  apiToken: string;
  /** Registers agents. */
  agentToken: string;
  /** The cookie of a browser that is signed in, and approves devices. */
  cookie: string;
  clientId: string;
}

export const triggerSecret = "a secret of the senders";
const slug = "prove";

/** Three pipelines and two that their steps trigger, triggers of each kind, and what agents need. */
export async function createProveOrganization(
  services: Services,
  marksFolder: string,
): Promise<ProveOrganization> {
  const { operator: actor, cluster, organization } = await createScratchOrganization(services, slug);
  const features = { webhook_filtering: true };
  const operator = { ...actor, organization: await updateOrganization(services, slug, { features }) };

  const steps = provedSteps(marksFolder);
  const addPipeline = async (name: keyof typeof steps) =>
    createPipeline(services, operator, { clusterId: cluster.id, slug: name, name, steps: steps[name] });
  const queues = [];
  for (const key of ["linux", "mac"]) queues.push(await createQueue(services, operator, cluster, { key }));
  const pipelines = [await addPipeline("web"), await addPipeline("app"), await addPipeline("graph")];
  pipelines.push(await addPipeline("release"), await addPipeline("small"));

  const addTrigger = async (
    index: number,
    trigger: Omit<ProveTrigger, "token">,
    input: Partial<NewTrigger>,
  ) => {
    const pipeline = pipelines[index];
    if (!pipeline) throw new Error("There is no such pipeline.");
    const whole = { ...plainTrigger, label: trigger.name, ...input };
    const { token } = await createTrigger(services, operator, pipeline, whole);
    return { ...trigger, token };
  };
  const secret = triggerSecret;
  const github = { header: "X-Hub-Signature-256", prefix: "sha256=" };
  const tracker = { header: "Linear-Signature", prefix: "" };
  const triggers = [
    await addTrigger(0, { name: "plain" }, {}),
    await addTrigger(1, { name: "signed by github", signature: github }, { type: "github", secret }),
    await addTrigger(
      2,
      { name: "signed by the issue tracker", signature: tracker },
      { type: "linear", secret },
    ),
    await addTrigger(1, { name: "filtered" }, { filter: "webhook.payload.builds == true" }),
  ];

  const { user, apiToken } = await createAdmin(services, slug, [
    "read_clusters",
    "write_clusters",
    "read_builds",
    "write_builds",
  ]);
  const { application } = await createApplication(services, {
    name: "Prove",
    confidential: false,
    deviceFlow: true,
    refreshTokens: false,
  });
  const { token: agentToken } = await createAgentToken(services, operator, cluster, {
    ...{ description: "prove", queueId: null, expiresAt: null },
  });
  return {
    id: organization.id,
    slug,
    clusterId: cluster.id,
    queueIds: queues.map(({ id }) => id),
    pipelineSlugs: pipelines.map(({ slug }) => slug),
    triggers,
    apiToken,
    agentToken,
    cookie: `signalbox=${await startSession(services, user, "")}`,
    clientId: application.clientId,
  };
}
