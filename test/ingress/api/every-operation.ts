import type { Scope } from "../../../shared/accounts/scopes.ts";
import { openDeliveryBuilder } from "../../../shared/triggers/deliveries/build.ts";
import { type Api, pipelineBody, unique } from "../../helpers/api.ts";
import { post } from "../../helpers/http.ts";

type Parameters = Partial<Api["present"]>;

/** The table covers these groups completely. */
export const tags = ["Clusters", "Queues", "Pipelines", "Builds", "Pipeline triggers (public preview)"];

export interface Example {
  /** `ByPatch` is added where PUT and PATCH mean the same. */
  id: string;
  method: string;
  /** Relative to the organization. */
  path: string;
  scope: Scope;
  needsAdmin: boolean;
  status: 200 | 201 | 204;
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
  await openDeliveryBuilder(api.world.services).add(id);
  return { ...at, delivery: id as string };
}

const freshCluster = async ({ newCluster }: Api) => ({ cluster: (await newCluster()).id });
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
const described = { body: () => ({ description: "Changed" }) };
const branched = { body: () => ({ default_branch: "changed" }) };

type Call = Pick<Example, "body" | "takesNoBodyToo" | "prepare">;
type Row = [id: string, method: string, path: string, Scope, "admin" | "member", Example["status"], Call?];

// biome-ignore format: a table
const rows: Row[] = [
  ["listClusters", "GET", "/clusters", "read_clusters", "member", 200],
  ["createCluster", "POST", "/clusters", "write_clusters", "admin", 201, { body: () => ({ name: unique("Cluster") }) }],
  ["getCluster", "GET", cluster, "read_clusters", "member", 200],
  ["updateCluster", "PUT", cluster, "write_clusters", "admin", 200, described],
  ["updateClusterByPatch", "PATCH", cluster, "write_clusters", "admin", 200, described],
  ["deleteCluster", "DELETE", cluster, "write_clusters", "admin", 204, { prepare: freshCluster }],

  ["listQueues", "GET", `${cluster}/queues`, "read_clusters", "member", 200],
  ["createQueue", "POST", `${cluster}/queues`, "write_clusters", "admin", 201, { body: () => ({ key: unique("queue") }) }],
  ["getQueue", "GET", queue, "read_clusters", "member", 200],
  ["updateQueue", "PUT", queue, "write_clusters", "admin", 200, described],
  ["updateQueueByPatch", "PATCH", queue, "write_clusters", "admin", 200, described],
  ["deleteQueue", "DELETE", queue, "write_clusters", "admin", 204, { prepare: freshQueue }],
  ["pauseDispatch", "POST", `${queue}/pause_dispatch`, "write_clusters", "admin", 200, { body: () => ({ dispatch_paused_note: "n" }), takesNoBodyToo: true, prepare: freshQueue }],
  ["resumeDispatch", "POST", `${queue}/resume_dispatch`, "write_clusters", "admin", 200, { prepare: pausedQueue }],

  ["listPipelines", "GET", "/pipelines", "read_pipelines", "member", 200],
  ["createPipeline", "POST", "/pipelines", "write_pipelines", "member", 201, { body: ({ acme }) => pipelineBody(acme.cluster.id) }],
  ["getPipeline", "GET", pipeline, "read_pipelines", "member", 200],
  ["updatePipeline", "PUT", pipeline, "write_pipelines", "member", 200, branched],
  ["updatePipelineByPatch", "PATCH", pipeline, "write_pipelines", "member", 200, branched],
  ["deletePipeline", "DELETE", pipeline, "write_pipelines", "member", 204, { prepare: freshPipeline }],

  ["listBuilds", "GET", "/builds", "read_builds", "member", 200],
  ["listBuildsOfPipeline", "GET", `${pipeline}/builds`, "read_builds", "member", 200],
  ["getBuild", "GET", `${pipeline}/builds/:number`, "read_builds", "member", 200],
  ["cancelBuild", "PUT", `${pipeline}/builds/:number/cancel`, "write_builds", "member", 200, { prepare: freshBuild }],

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
];

export const everyOperation: Example[] = rows.map(([id, method, path, scope, role, status, call]) => ({
  id,
  method,
  path,
  scope,
  status,
  needsAdmin: role === "admin",
  ...call,
}));

export const allowed: Record<string, string> = {
  "/clusters": "GET, HEAD, POST",
  [cluster]: "GET, HEAD, PUT, PATCH, DELETE",
  [`${cluster}/queues`]: "GET, HEAD, POST",
  [queue]: "GET, HEAD, PUT, PATCH, DELETE",
  [`${queue}/pause_dispatch`]: "POST",
  [`${queue}/resume_dispatch`]: "POST",
  "/pipelines": "GET, HEAD, POST",
  [pipeline]: "GET, HEAD, PUT, PATCH, DELETE",
  "/builds": "GET, HEAD",
  [`${pipeline}/builds`]: "GET, HEAD",
  [`${pipeline}/builds/:number`]: "GET, HEAD",
  [`${pipeline}/builds/:number/cancel`]: "PUT",
  [triggers]: "GET, HEAD, POST",
  [trigger]: "GET, HEAD, PATCH, DELETE",
  [`${trigger}/filter/test`]: "POST",
  [`${trigger}/deliveries`]: "GET, HEAD",
  [delivery]: "GET, HEAD",
  [`${delivery}/request`]: "GET, HEAD",
  [`${delivery}/rebuild`]: "POST",
};

export async function pathOf(api: Api, { path, prepare }: Example): Promise<string> {
  return fill(api, path, await prepare?.(api));
}

/** Defaults to the resources of acme. */
export function fill({ present }: Api, path: string, given: Parameters = {}): string {
  const all = { ...present, ...given };
  return path.replace(/:([a-z]+)/g, (_, name: keyof typeof all) => all[name]);
}
