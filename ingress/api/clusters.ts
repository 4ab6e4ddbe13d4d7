import { z } from "zod";
import type { Organization } from "../../shared/accounts/organization-store.ts";
import { listUsersById } from "../../shared/accounts/user-store.ts";
import {
  clusterChangeProblems,
  countDefaultDependents,
  createCluster,
  deleteCluster,
  newClusterProblems,
  requireCluster,
  updateCluster,
} from "../../shared/clusters/clusters.ts";
import { newCluster } from "../../shared/clusters/input.ts";
import { type Cluster, listClustersPage } from "../../shared/clusters/store.ts";
import { patterns } from "../../shared/paths.ts";
import type { Services } from "../../shared/services/services.ts";
import { readPage } from "../http/number-pager.ts";
import { type Call, type Operation, operation } from "../operations/operation.ts";
import { clusterSchema, presentCluster, updateClusterBody } from "./json/cluster.ts";
import { linkPages, pageQuery } from "./json/list.ts";

const tag = "Clusters";
const reading = { tag, scope: "read_clusters" as const };
const writing = { tag, scope: "write_clusters" as const, needsAdmin: true };

export function clusterOperations(services: Services): Operation[] {
  const { db, config } = services;

  const clusterOf = ({ caller, parameter }: Pick<Call<unknown>, "caller" | "parameter">) =>
    requireCluster(db, caller.organization.id, parameter("cluster"));
  const present = async (organization: Organization, clusters: Cluster[]) => {
    const users = await listUsersById(
      db,
      clusters.map(({ createdById }) => createdById),
    );
    return clusters.map((cluster) => presentCluster(config, organization, cluster, users));
  };
  const presentOne = async (organization: Organization, cluster: Cluster) =>
    (await present(organization, [cluster]))[0];

  return [
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.clusters,
      id: "listClusters",
      summary: "The clusters of an organization, oldest first",
      query: pageQuery,
      success: { status: 200, schema: z.array(clusterSchema), description: "A page of clusters" },
      run: async ({ event, caller: { organization } }) => {
        const page = readPage(event);
        const list = await listClustersPage(db, organization.id, page);
        linkPages(event, { ...list, page }, config.baseUrl);
        return present(organization, list.rows);
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.clusters,
      id: "createCluster",
      summary: "Create a cluster; it has no default queue yet",
      body: { schema: newCluster },
      success: { status: 201, schema: clusterSchema, description: "The new cluster" },
      refusals: { 422: ["Validation failed: …"] },
      run: async ({ caller, actor, readBody }) => {
        const input = await readBody((sound: Partial<z.input<typeof newCluster>>) =>
          newClusterProblems(db, actor, sound),
        );
        return presentOne(caller.organization, await createCluster(services, actor, input));
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.cluster,
      id: "getCluster",
      summary: "A cluster",
      success: { status: 200, schema: clusterSchema, description: "The cluster" },
      run: async (call) => presentOne(call.caller.organization, await clusterOf(call)),
    }),
    operation({
      ...writing,
      methods: ["PUT", "PATCH"],
      path: patterns.cluster,
      id: "updateCluster",
      summary: "Change a cluster; absent members stay",
      body: { schema: updateClusterBody },
      success: { status: 200, schema: clusterSchema, description: "The changed cluster" },
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const cluster = await clusterOf(call);
        const change = await call.readBody(
          ({ name, default_queue_id }: Partial<z.input<typeof updateClusterBody>>) =>
            clusterChangeProblems(
              db,
              cluster,
              { ...(name === undefined ? {} : { name }), defaultQueueId: default_queue_id },
              () => countDefaultDependents(db, cluster),
            ),
        );
        const updated = await updateCluster(services, call.actor, cluster, change);
        return presentOne(call.caller.organization, updated);
      },
    }),
    operation({
      ...writing,
      methods: ["DELETE"],
      path: patterns.cluster,
      id: "deleteCluster",
      summary: "Delete an unused cluster and its queues",
      success: { status: 204, description: "The cluster is gone" },
      refusals: { 422: ["Cluster has N pipelines", "Cluster has N unfinished jobs"] },
      run: async (call) => deleteCluster(services, call.actor, await clusterOf(call)),
    }),
  ];
}
