import {
  clusterChangeProblems,
  countDefaultDependents,
  createCluster,
  deleteCluster,
  newClusterProblems,
  requireCluster,
  updateCluster,
} from "../../../shared/clusters/clusters.ts";
import { clusterChange, clusterMembers, newCluster } from "../../../shared/clusters/members.ts";
import { type Cluster, listClustersPage } from "../../../shared/clusters/store.ts";
import { readSound } from "../../../shared/members/bodies.ts";
import { patterns } from "../../../shared/paths.ts";
import * as field from "../../../shared/presenters/fields.ts";
import type { Services } from "../../../shared/services/services.ts";
import { api, web } from "../../../shared/settings/urls.ts";
import type { Operation } from "../../operations/operation.ts";
import { answerOf, created, declared, identified } from "../resources/answer.ts";
import { resourceOperations } from "../resources/operations.ts";

const clusterAnswer = answerOf<Cluster>("Cluster", {
  ...identified("Cluster"),
  ...declared(clusterMembers),
  url: [field.url, ({ id }, { config, org }) => api.cluster(config, org, id)],
  web_url: [field.url, ({ id }, { config, org }) => web.cluster(config, org, id)],
  queues_url: [field.url, ({ id }, { config, org }) => `${api.cluster(config, org, id)}/queues`],
  default_queue_url: [
    field.url.nullable(),
    ({ id, defaultQueueId: queue }, { config, org }) =>
      queue === null ? null : api.queue(config, { org, cluster: id, queue }),
  ],
  ...created,
});

export function clusterOperations(services: Services): Operation[] {
  const { db } = services;
  return resourceOperations(services, {
    tag: "Clusters",
    scopes: { reading: "read_clusters", writing: "write_clusters" },
    paths: { list: patterns.clusters, one: patterns.cluster },
    json: clusterAnswer,
    ownerOf: async ({ caller }) => caller.organization,
    find: (organization, { parameter }) => requireCluster(db, organization.id, parameter("cluster")),
    list: {
      id: "listClusters",
      summary: "The clusters of an organization, oldest first",
      answer: "A page of clusters",
      read: ({ id }, page) => listClustersPage(db, id, page),
    },
    create: {
      id: "createCluster",
      summary: "Create a cluster; it has no default queue yet",
      answer: "The new cluster",
      body: newCluster,
      run: async ({ actor, readBody }) => {
        const input = await readBody((sound: Record<string, unknown>) =>
          newClusterProblems(db, actor, readSound(clusterMembers, "create", sound)),
        );
        return createCluster(services, actor, input);
      },
    },
    get: { id: "getCluster", summary: "A cluster", answer: "The cluster" },
    update: {
      id: "updateCluster",
      summary: "Change a cluster; absent members stay",
      answer: "The changed cluster",
      body: clusterChange,
      run: async ({ actor, readBody }, cluster) => {
        const countDefault = () => countDefaultDependents(db, cluster);
        const change = await readBody((sound: Record<string, unknown>) =>
          clusterChangeProblems(db, cluster, readSound(clusterMembers, "change", sound), countDefault),
        );
        return updateCluster(services, actor, cluster, change);
      },
    },
    delete: {
      id: "deleteCluster",
      summary: "Delete an unused cluster and its queues",
      answer: "The cluster is gone",
      refusals: ["Cluster has N pipelines", "Cluster has N unfinished jobs"],
      run: ({ actor }, cluster) => deleteCluster(services, actor, cluster),
    },
  }).operations;
}
