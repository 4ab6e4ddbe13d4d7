import { createHmac, randomUUID } from "node:crypto";
import { isNull } from "drizzle-orm";
import type { Scope } from "../../../shared/accounts/scopes.ts";
import { insertUpload } from "../../../shared/agents/upload-store.ts";
import { findConnectionOfHost } from "../../../shared/connections/store.ts";
import { token as hostToken, startStandIn } from "../../connections/stand-ins.ts";
import { agentTokenOf, sendAsAgent, startAgent } from "../../helpers/agent.ts";
import { type Api, unique } from "../../helpers/api.ts";
import { decide, decideDue } from "../../helpers/builds.ts";
import { post } from "../../helpers/http.ts";
import type { Resource } from "../../members/resource.ts";
import { resources } from "../../members/resources.ts";

type Parameters = Record<string, string>;

/** The table covers these groups completely. */
export const tags = [
  "Clusters",
  "Queues",
  "Repository connections",
  "Notification services",
  "Pipelines",
  "Schedules",
  "Builds",
  "Agents",
  "Pipeline triggers (public preview)",
];

export interface Example {
  /** `ByPatch` is added where PUT and PATCH mean the same. */
  id: string;
  method: string;
  /** Relative to the organization. */
  path: string;
  scope: Scope;
  needsAdmin: boolean;
  status: 200 | 201 | 202 | 204 | 302;
  body?: (api: Api) => object;
  takesNoBodyToo?: boolean;
  /** Creates a resource that the call uses up. */
  prepare?: (api: Api) => Promise<Parameters>;
}

const cluster = "/clusters/:cluster";
const queue = `${cluster}/queues/:queue`;
const pipeline = "/pipelines/:slug";
const triggers = `${pipeline}/triggers`;
const trigger = `${triggers}/:trigger`;
const delivery = `${trigger}/deliveries/:delivery`;
const provider = `${pipeline}/provider`;
/** A delivery of the provider: that of a trigger has the other name. */
const providerDelivery = `${provider}/deliveries/:push`;
const bulkRebuild = `${trigger}/rebuilds/:rebuild`;

const service = "/services/:service";
const hook = { provider: "webhook", settings: { url: "https://example.com/hook" } };
const secret = `${cluster}/secrets/:secret`;

/** Creates a row of a declared resource. */
export async function freshRow(api: Api, { path, parameter, key, body }: Resource) {
  const made = await api.send("POST", fill(api, path), { body: body(api) });
  return { [parameter]: made.body[key ?? "id"] as string };
}
/** Creates one row of each resource that acme has none of. */
export async function freshRows(api: Api) {
  const missing = resources.filter(({ parameter }) => !Object.hasOwn(api.present, parameter));
  return Object.assign({}, ...(await Promise.all(missing.map((each) => freshRow(api, each)))));
}
export const freshService = async ({ send }: Api) => {
  return { service: (await send("POST", "/services", { body: hook })).body.id as string };
};
const freshQueue = async ({ newQueue }: Api) => ({ queue: (await newQueue()).id });
const freshPipeline = async ({ newPipeline }: Api) => ({ slug: (await newPipeline()).slug });

const freshTrigger = async ({ send, newPipeline }: Api) => {
  const { slug } = await newPipeline();
  const body = { type: "webhook", label: "Fresh" };
  const made = await send("POST", `/pipelines/${slug}/triggers`, { body });
  return { slug, trigger: made.body.id as string, endpoint: made.body.endpoint_url as string };
};

/** Creates a built delivery with its payload. */
export async function freshDelivery(api: Api) {
  const { endpoint, ...at } = await freshTrigger(api);
  const { id } = (await post(api.world.url + new URL(endpoint).pathname, '{"a":1}')).body;
  await decide(api.world.services, [id]);
  return { ...at, delivery: id as string };
}

const repository = "https://github.com/acme/app.git";
const hookedPipeline = async ({ newPipeline }: Api) => ({ slug: (await newPipeline({ repository })).slug });
/** A pipeline whose host has a connection with a token. */
const connectedPipeline = async (api: Api) => {
  const known = await findConnectionOfHost(api.world.services.db, api.acme.id, "github.com");
  if (!known) {
    const { apiUrl } = await startStandIn("github");
    const body = { type: "github", api_url: apiUrl, token: hostToken };
    await api.send("POST", "/repository_connections", { body });
  }
  return hookedPipeline(api);
};
const sha = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";
const pushOfGithub = {
  ref: "refs/heads/main",
  before: "0".repeat(40),
  after: sha,
  deleted: false,
  compare: "https://github.com/acme/app/compare/main",
  head_commit: { id: sha, message: "Make it faster", author: { name: "Ada", email: "ada@example.com" } },
  repository: { id: 7, full_name: "acme/app", clone_url: repository },
};

/** Creates a push that was built. @param slug of a pipeline that gets a provider. Default: a new one */
export async function pushToProvider(api: Api, slug?: string) {
  const at = slug ?? (await hookedPipeline(api)).slug;
  await api.send("PATCH", `/pipelines/${at}`, { body: { repository } });
  const { webhook_url, secret } = (await api.send("POST", `/pipelines/${at}/provider/rotate`)).body;
  const body = JSON.stringify(pushOfGithub);
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const headers = { "X-GitHub-Event": "push", "X-Hub-Signature-256": `sha256=${signature}` };
  const { id } = (await post(api.world.url + new URL(webhook_url).pathname, body, headers)).body;
  await decideDue(api.world.services);
  return { slug: at, push: id as string };
}

/** Ends those that run: an organization may have three. */
const deliveryToRebuild = async (api: Api) => {
  await api.world.services.db.transaction(async (tx) => {
    const { bulkRebuilds } = tx.tables;
    await tx.update(bulkRebuilds).set({ finishedAt: tx.now }).where(isNull(bulkRebuilds.finishedAt));
  });
  return freshDelivery(api);
};
export const freshBulkRebuild = async (api: Api) => {
  const at = await deliveryToRebuild(api);
  const made = await api.send("POST", `/pipelines/${at.slug}/triggers/${at.trigger}/rebuilds`);
  return { ...at, rebuild: made.body.id as string };
};

const pausedQueue = async (api: Api) => {
  const fresh = await freshQueue(api);
  await api.send("POST", `${api.queues}/${fresh.queue}/pause_dispatch`);
  return fresh;
};
const freshBuild = async (api: Api) => {
  const { id, slug } = await api.newPipeline();
  await api.build(id);
  return { slug, number: "1" };
};
const job = `${pipeline}/builds/:number/jobs/:job`;
const jobById = "/jobs/:job";
const freshJob = async (api: Api) => {
  const at = await freshBuild(api);
  const { body } = await api.send("GET", `/pipelines/${at.slug}/builds/1`);
  return { ...at, job: body.jobs[0].id as string };
};
const annotations = `${pipeline}/builds/:number/annotations`;
const annotate = { body: () => ({ body: "Done" }) };
const freshAnnotation = async (api: Api) => {
  const at = await freshJob(api);
  const made = await api.send("POST", `/jobs/${at.job}/annotations`, { body: annotate.body() });
  return { ...at, annotation: made.body.id as string };
};
const blockedJob = async (api: Api) => {
  const { id, slug } = await api.newPipeline({ steps: [{ block: "Release?" }] });
  await api.build(id);
  const { body } = await api.send("GET", `/pipelines/${slug}/builds/1`);
  return { slug, number: "1", job: body.jobs[0].id as string };
};
export async function addUpload(api: Api, jobId: string): Promise<string> {
  const id = randomUUID();
  await api.world.services.db.transaction((tx) => insertUpload(tx, { jobId, id, jobsMade: 1 }));
  return id;
}
const uploadOfJob = async (api: Api) => {
  const at = await freshJob(api);
  return { ...at, upload: await addUpload(api, at.job) };
};
const canceledJob = async (api: Api) => {
  const at = await freshJob(api);
  await api.send("PUT", `/pipelines/${at.slug}/builds/1/jobs/${at.job}/cancel`);
  return at;
};
export const freshAgent = async ({ world, acme }: Api) => {
  const registrationToken = await agentTokenOf(world, acme.cluster);
  return { agent: (await startAgent(world.url, registrationToken)).id };
};
export const freshStack = async ({ world, acme }: Api) => {
  const registrationToken = await agentTokenOf(world, acme.cluster);
  const body = { key: unique("stack"), type: "custom", queue_key: "__default__", metadata: {} };
  const made = await sendAsAgent(world.url, registrationToken, {
    method: "POST",
    path: "/stacks/register",
    body,
  });
  return { stack: made.body.id as string };
};
const pausedAgent = async (api: Api) => {
  const fresh = await freshAgent(api);
  await api.send("PUT", `/agents/${fresh.agent}/pause`);
  return fresh;
};

type Call = Pick<Example, "body" | "takesNoBodyToo" | "prepare">;
type Row = [id: string, method: string, path: string, Scope, "admin" | "member", Example["status"], Call?];

// biome-ignore format: a table
const rows: Row[] = [
  ["pauseDispatch", "POST", `${queue}/pause_dispatch`, "write_clusters", "admin", 200, { body: () => ({ dispatch_paused_note: "n" }), takesNoBodyToo: true, prepare: freshQueue }],
  ["resumeDispatch", "POST", `${queue}/resume_dispatch`, "write_clusters", "admin", 200, { prepare: pausedQueue }],

  ["replaceClusterSecretValue", "PUT", `${secret}/value`, "write_secrets", "admin", 200, { body: () => ({ value: "y" }) }],

  ["listNotificationServices", "GET", "/services", "read_notification_services", "admin", 200],
  ["createNotificationService", "POST", "/services", "write_notification_services", "admin", 201, { body: () => hook }],
  ["getNotificationService", "GET", service, "read_notification_services", "admin", 200, { prepare: freshService }],
  ["updateNotificationService", "PATCH", service, "write_notification_services", "admin", 200, { body: () => ({ description: "Chat" }), prepare: freshService }],
  ["deleteNotificationService", "DELETE", service, "write_notification_services", "admin", 204, { prepare: freshService }],
  ["enableNotificationService", "PUT", `${service}/enable`, "write_notification_services", "admin", 200, { prepare: freshService }],
  ["disableNotificationService", "PUT", `${service}/disable`, "write_notification_services", "admin", 200, { prepare: freshService }],

  ["archivePipeline", "POST", `${pipeline}/archive`, "write_pipelines", "member", 200, { prepare: freshPipeline }],
  ["unarchivePipeline", "POST", `${pipeline}/unarchive`, "write_pipelines", "member", 200, { prepare: freshPipeline }],

  ["setProviderSecret", "PUT", `${provider}/secret`, "write_pipelines", "member", 204, { body: () => ({ secret: "sixteen letters!" }), prepare: hookedPipeline }],
  ["rotateProvider", "POST", `${provider}/rotate`, "write_pipelines", "member", 200, { prepare: hookedPipeline }],
  ["createWebhook", "POST", `${pipeline}/webhook`, "write_pipelines", "member", 201, { prepare: connectedPipeline }],
  ["getGithubWebhooks", "GET", `${pipeline}/github-webhooks`, "read_pipelines", "member", 200, { prepare: hookedPipeline }],
  ["enableGithubWebhooks", "PUT", `${pipeline}/github-webhooks`, "write_pipelines", "member", 200, { prepare: hookedPipeline }],
  ["disableGithubWebhooks", "DELETE", `${pipeline}/github-webhooks`, "write_pipelines", "member", 200, { prepare: hookedPipeline }],
  ["listProviderDeliveries", "GET", `${provider}/deliveries`, "read_pipelines", "member", 200, { prepare: hookedPipeline }],
  ["getProviderDelivery", "GET", providerDelivery, "read_pipelines", "member", 200, { prepare: pushToProvider }],
  ["getProviderDeliveryRequest", "GET", `${providerDelivery}/request`, "read_pipelines", "member", 200, { prepare: pushToProvider }],
  ["rebuildProviderDelivery", "POST", `${providerDelivery}/rebuild`, "write_builds", "member", 201, { prepare: pushToProvider }],

  ["listBuilds", "GET", "/builds", "read_builds", "member", 200],
  ["listBuildsOfPipeline", "GET", `${pipeline}/builds`, "read_builds", "member", 200],
  ["createBuild", "POST", `${pipeline}/builds`, "write_builds", "member", 201, { body: () => ({ message: "By hand" }), takesNoBodyToo: true, prepare: freshPipeline }],
  ["getBuild", "GET", `${pipeline}/builds/:number`, "read_builds", "member", 200],
  ["rebuildBuild", "PUT", `${pipeline}/builds/:number/rebuild`, "write_builds", "member", 200, { prepare: freshBuild }],
  ["cancelBuild", "PUT", `${pipeline}/builds/:number/cancel`, "write_builds", "member", 200, { prepare: freshBuild }],

  ["retryFailedJobs", "PUT", `${pipeline}/builds/:number/retry_failed_jobs`, "write_builds", "member", 202, { body: () => ({ states: "canceled" }), takesNoBodyToo: true, prepare: canceledJob }],
  ["listJobs", "GET", `${pipeline}/builds/:number/jobs`, "read_builds", "member", 200, { prepare: freshJob }],
  ["getJob", "GET", job, "read_builds", "member", 200, { prepare: freshJob }],
  ["getJobById", "GET", jobById, "read_builds", "member", 200, { prepare: freshJob }],
  ["reprioritizeJob", "PUT", `${job}/reprioritize`, "write_builds", "member", 200, { body: () => ({ priority: 1 }), prepare: freshJob }],
  ["reprioritizeJobById", "PUT", `${jobById}/reprioritize`, "write_builds", "member", 200, { body: () => ({ priority: 1 }), prepare: freshJob }],
  ["unblockJob", "PUT", `${job}/unblock`, "write_builds", "member", 200, { body: () => ({ fields: {} }), takesNoBodyToo: true, prepare: blockedJob }],
  ["unblockJobById", "PUT", `${jobById}/unblock`, "write_builds", "member", 200, { body: () => ({ fields: {} }), takesNoBodyToo: true, prepare: blockedJob }],
  ["cancelJob", "PUT", `${job}/cancel`, "write_builds", "member", 200, { prepare: freshJob }],
  ["retryJob", "PUT", `${job}/retry`, "write_builds", "member", 200, { prepare: canceledJob }],
  ["retryJobById", "PUT", `${jobById}/retry`, "write_builds", "member", 200, { prepare: canceledJob }],
  ["getJobEnvironment", "GET", `${job}/env`, "read_job_env", "member", 200, { prepare: freshJob }],
  ["listStepUploads", "GET", `${pipeline}/builds/:number/step-uploads`, "read_builds", "member", 200],
  ["getJobEnvironmentById", "GET", `${jobById}/env`, "read_job_env", "member", 200, { prepare: freshJob }],
  ["getStepUpload", "GET", `${pipeline}/builds/:number/step-uploads/:upload`, "read_builds", "member", 200, { prepare: uploadOfJob }],

  ["getJobLog", "GET", `${job}/log`, "read_build_logs", "member", 200, { prepare: freshJob }],
  ["getJobLogText", "GET", `${job}/log.txt`, "read_build_logs", "member", 200, { prepare: freshJob }],
  ["getJobLogHtml", "GET", `${job}/log.html`, "read_build_logs", "member", 200, { prepare: freshJob }],
  ["getJobLogById", "GET", `${jobById}/log`, "read_build_logs", "member", 200, { prepare: freshJob }],
  ["getJobLogTextById", "GET", `${jobById}/log.txt`, "read_build_logs", "member", 200, { prepare: freshJob }],
  ["getJobLogHtmlById", "GET", `${jobById}/log.html`, "read_build_logs", "member", 200, { prepare: freshJob }],
  ["deleteJobLog", "DELETE", `${job}/log`, "write_build_logs", "member", 204, { prepare: canceledJob }],
  ["deleteJobLogById", "DELETE", `${jobById}/log`, "write_build_logs", "member", 204, { prepare: canceledJob }],

  ["listAnnotations", "GET", annotations, "read_builds", "member", 200],
  ["createAnnotation", "POST", annotations, "write_builds", "member", 201, annotate],
  ["deleteAnnotation", "DELETE", `${annotations}/:annotation`, "write_builds", "member", 204, { prepare: freshAnnotation }],
  ["listAnnotationsOfJob", "GET", `${job}/annotations`, "read_builds", "member", 200, { prepare: freshJob }],
  ["createAnnotationOfJob", "POST", `${job}/annotations`, "write_builds", "member", 201, { ...annotate, prepare: freshJob }],
  ["deleteAnnotationOfJob", "DELETE", `${job}/annotations/:annotation`, "write_builds", "member", 204, { prepare: freshAnnotation }],
  ["listAnnotationsOfJobById", "GET", `${jobById}/annotations`, "read_builds", "member", 200, { prepare: freshJob }],
  ["createAnnotationOfJobById", "POST", `${jobById}/annotations`, "write_builds", "member", 201, { ...annotate, prepare: freshJob }],
  ["deleteAnnotationOfJobById", "DELETE", `${jobById}/annotations/:annotation`, "write_builds", "member", 204, { prepare: freshAnnotation }],

  ["listAgents", "GET", "/agents", "read_agents", "member", 200],
  ["getAgent", "GET", "/agents/:agent", "read_agents", "member", 200],
  ["stopAgent", "PUT", "/agents/:agent/stop", "write_agents", "member", 200, { body: () => ({ force: true }), takesNoBodyToo: true, prepare: freshAgent }],
  ["pauseAgent", "PUT", "/agents/:agent/pause", "write_agents", "member", 200, { body: () => ({ note: "n" }), takesNoBodyToo: true, prepare: freshAgent }],
  ["listStacks", "GET", "/stacks", "read_agents", "member", 200],
  ["getStack", "GET", "/stacks/:stack", "read_agents", "member", 200, { prepare: freshStack }],
  ["resumeAgent", "PUT", "/agents/:agent/resume", "write_agents", "member", 200, { prepare: pausedAgent }],

  ["listTriggers", "GET", triggers, "read_pipelines", "member", 200],
  ["createTrigger", "POST", triggers, "write_pipelines", "member", 201, { body: () => ({ type: "webhook", label: "New" }), prepare: freshPipeline }],
  ["getTrigger", "GET", trigger, "read_pipelines", "member", 200],
  ["updateTrigger", "PATCH", trigger, "write_pipelines", "member", 200, { body: () => ({ label: "Changed" }) }],
  ["deleteTrigger", "DELETE", trigger, "write_pipelines", "member", 204, { prepare: freshTrigger }],
  ["testFilter", "POST", `${trigger}/filter/test`, "write_pipelines", "member", 200, { body: ({ present }) => ({ expression: "webhook.payload.a == 1", delivery_id: present.delivery }) }],
  ["listDeliveries", "GET", `${trigger}/deliveries`, "read_pipelines", "member", 200],
  ["getDelivery", "GET", delivery, "read_pipelines", "member", 200],
  ["getDeliveryRequest", "GET", `${delivery}/request`, "read_pipelines", "member", 200],
  ["rebuildDelivery", "POST", `${delivery}/rebuild`, "write_builds", "member", 201],

  ["listBulkRebuilds", "GET", `${trigger}/rebuilds`, "read_pipelines", "member", 200],
  ["createBulkRebuild", "POST", `${trigger}/rebuilds`, "write_builds", "member", 201, { body: () => ({ status: "build_created" }), takesNoBodyToo: true, prepare: deliveryToRebuild }],
  ["getBulkRebuild", "GET", bulkRebuild, "read_pipelines", "member", 200],
  ["cancelBulkRebuild", "PUT", `${bulkRebuild}/cancel`, "write_builds", "member", 200, { prepare: freshBulkRebuild }],
];

/** The operations that read and change a declared resource. */
function operationsOf(resource: Resource): Row[] {
  const { path, parameter, operations, body, change } = resource;
  const { noun, scopes, readers = "member", writers = "admin", ending = "delete" } = operations;
  const [reading, writing] = scopes;
  const one = `${path}/:${parameter}`;
  const changed = { body: () => change };
  return [
    [`list${noun}s`, "GET", path, reading, readers, 200],
    [`create${noun}`, "POST", path, writing, writers, 201, { body }],
    [`get${noun}`, "GET", one, reading, readers, 200],
    [`update${noun}`, "PUT", one, writing, writers, 200, changed],
    [`update${noun}ByPatch`, "PATCH", one, writing, writers, 200, changed],
    [`${ending}${noun}`, "DELETE", one, writing, writers, 204, { prepare: (api) => freshRow(api, resource) }],
  ];
}

const all = [...resources.flatMap(operationsOf), ...rows];

export const everyOperation: Example[] = all.map(([id, method, path, scope, role, status, call]) => ({
  id,
  method,
  path,
  scope,
  status,
  needsAdmin: role === "admin",
  ...call,
}));

/** The methods of each path, as `Allow` names them. */
export const allowed = Object.fromEntries(
  [...Map.groupBy(everyOperation, ({ path }) => path)].map(([path, operations]) => {
    const methods = operations.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    return [path, methods.join(", ")];
  }),
);

export async function pathOf(api: Api, { path, prepare }: Example): Promise<string> {
  return fill(api, path, await prepare?.(api));
}

/** Defaults to the resources of acme. */
export function fill({ present }: Api, path: string, given: Parameters = {}): string {
  const all: Parameters = { ...present, ...given };
  return path.replace(/:([a-z]+)/g, (_, name: string) => all[name] ?? "");
}
