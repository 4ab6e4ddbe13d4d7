import type { Scope } from "../../../shared/accounts/scopes.ts";
import { openDeliveryBuilder } from "../../../shared/triggers/deliveries/build.ts";
import { type Api, pipelineBody, unique } from "../../helpers/api.ts";
import { post } from "../../helpers/http.ts";

type Parameters = Partial<Api["present"]>;

/** The groups of operations that the table has in full. */
export const tags = ["Clusters", "Queues", "Pipelines", "Builds", "Pipeline triggers (public preview)"];

/** One operation as a caller uses it, with a body that succeeds. */
export interface Example {
  /** Its name in the document of the API. */
  id: string;
  method: string;
  /** Below that of the organization. */
  path: string;
  scope: Scope;
  needsAdmin?: boolean;
  status: 200 | 201 | 204;
  body?: (api: Api) => object;
  takesNoBodyToo?: boolean;
  /** What the path names when it is not what every organization of the tests has. */
  prepare?: (api: Api) => Promise<Parameters>;
}

const clusters = { scope: "read_clusters", status: 200 } as const;
const pipelines = { scope: "read_pipelines", status: 200 } as const;
const admins = { scope: "write_clusters", needsAdmin: true } as const;
const writers = { scope: "write_pipelines" } as const;
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

/** A trigger with a delivery that is built and kept. */
export async function freshDelivery(api: Api) {
  const { endpoint, ...at } = await freshTrigger(api);
  const { id } = (await post(api.world.url + new URL(endpoint).pathname, '{"a":1}')).body;
  await openDeliveryBuilder(api.world.services).add(id);
  return { ...at, delivery: id as string };
}

/** Every operation on clusters, queues, pipelines, builds, triggers and deliveries. */
export const everyOperation: Example[] = [
  { ...clusters, id: "listClusters", method: "GET", path: "/clusters" },
  {
    ...admins,
    id: "createCluster",
    method: "POST",
    path: "/clusters",
    status: 201,
    body: () => ({ name: unique("Cluster") }),
  },
  { ...clusters, id: "getCluster", method: "GET", path: cluster },
  ...["PUT", "PATCH"].map((method) => ({
    ...admins,
    id: method === "PUT" ? "updateCluster" : "updateClusterByPatch",
    method,
    path: cluster,
    status: 200 as const,
    body: () => ({ description: method }),
  })),
  {
    ...admins,
    id: "deleteCluster",
    method: "DELETE",
    path: cluster,
    status: 204,
    prepare: async ({ newCluster }) => ({ cluster: (await newCluster()).id }),
  },

  { ...clusters, id: "listQueues", method: "GET", path: `${cluster}/queues` },
  {
    ...admins,
    id: "createQueue",
    method: "POST",
    path: `${cluster}/queues`,
    status: 201,
    body: () => ({ key: unique("queue") }),
  },
  { ...clusters, id: "getQueue", method: "GET", path: queue },
  ...["PUT", "PATCH"].map((method) => ({
    ...admins,
    id: method === "PUT" ? "updateQueue" : "updateQueueByPatch",
    method,
    path: queue,
    status: 200 as const,
    body: () => ({ description: method }),
  })),
  { ...admins, id: "deleteQueue", method: "DELETE", path: queue, status: 204, prepare: freshQueue },
  {
    ...admins,
    id: "pauseDispatch",
    method: "POST",
    path: `${queue}/pause_dispatch`,
    status: 200,
    body: () => ({ dispatch_paused_note: "n" }),
    takesNoBodyToo: true,
    prepare: freshQueue,
  },
  {
    ...admins,
    id: "resumeDispatch",
    method: "POST",
    path: `${queue}/resume_dispatch`,
    status: 200,
    async prepare(api) {
      const fresh = await freshQueue(api);
      await api.send("POST", `${api.queues}/${fresh.queue}/pause_dispatch`);
      return fresh;
    },
  },

  { ...pipelines, id: "listPipelines", method: "GET", path: "/pipelines" },
  {
    id: "createPipeline",
    method: "POST",
    path: "/pipelines",
    scope: "write_pipelines",
    status: 201,
    body: ({ acme }) => pipelineBody(acme.cluster.id),
  },
  { ...pipelines, id: "getPipeline", method: "GET", path: pipeline },
  ...["PUT", "PATCH"].map((method) => ({
    id: method === "PUT" ? "updatePipeline" : "updatePipelineByPatch",
    method,
    path: pipeline,
    scope: "write_pipelines" as const,
    status: 200 as const,
    body: () => ({ default_branch: method }),
  })),
  {
    id: "deletePipeline",
    method: "DELETE",
    path: pipeline,
    scope: "write_pipelines",
    status: 204,
    prepare: freshPipeline,
  },

  { id: "listBuilds", method: "GET", path: "/builds", scope: "read_builds", status: 200 },
  {
    id: "listBuildsOfPipeline",
    method: "GET",
    path: `${pipeline}/builds`,
    scope: "read_builds",
    status: 200,
  },
  { id: "getBuild", method: "GET", path: `${pipeline}/builds/:number`, scope: "read_builds", status: 200 },
  {
    id: "cancelBuild",
    method: "PUT",
    path: `${pipeline}/builds/:number/cancel`,
    scope: "write_builds",
    status: 200,
    async prepare(api) {
      const { id, slug } = await api.newPipeline();
      await api.build(id);
      return { slug, number: "1" };
    },
  },

  { ...pipelines, id: "listTriggers", method: "GET", path: triggers },
  {
    ...writers,
    id: "createTrigger",
    method: "POST",
    path: triggers,
    status: 201,
    body: () => ({ type: "webhook", label: "New" }),
    prepare: freshPipeline,
  },
  { ...pipelines, id: "getTrigger", method: "GET", path: trigger },
  {
    ...writers,
    id: "updateTrigger",
    method: "PATCH",
    path: trigger,
    status: 200,
    body: () => ({ label: "Changed" }),
  },
  { ...writers, id: "deleteTrigger", method: "DELETE", path: trigger, status: 204, prepare: freshTrigger },
  {
    ...writers,
    id: "testFilter",
    method: "POST",
    path: `${trigger}/filter/test`,
    status: 200,
    body: ({ present }) => ({ expression: "webhook.payload.a == 1", delivery_id: present.delivery }),
  },
  { ...pipelines, id: "listDeliveries", method: "GET", path: `${trigger}/deliveries` },
  { ...pipelines, id: "getDelivery", method: "GET", path: delivery },
  { ...pipelines, id: "getDeliveryRequest", method: "GET", path: `${delivery}/request` },
  {
    id: "rebuildDelivery",
    method: "POST",
    path: `${delivery}/rebuild`,
    scope: "write_builds",
    status: 201,
  },
];

/** What each path allows, as the Allow header tells it. */
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

/** The path with what it names filled in: for each operation something that the call may use up. */
export async function pathOf(api: Api, { path, prepare }: Example): Promise<string> {
  return fill(api, path, await prepare?.(api));
}

/** The path with these parameters, and for the others what every organization of the tests has. */
export function fill({ present }: Api, path: string, given: Parameters = {}): string {
  const all = { ...present, ...given };
  return path.replace(/:([a-z]+)/g, (_, name: keyof typeof all) => all[name]);
}
