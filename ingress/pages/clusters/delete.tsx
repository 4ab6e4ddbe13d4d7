import type { ComponentChildren } from "preact";
import { deleteCluster } from "../../../shared/clusters/clusters.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { clusterPath, loadCluster } from "../address/cluster.ts";
import { adminAction, adminPage, type MemberRequest } from "../ui/member-page.ts";
import { confirmation } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { asSentence, tryForm } from "../ui/problems.ts";
import { describeStillUsed } from "../ui/still-used.tsx";

/** GET …/delete */
export const deleteClusterPage = adminPage(async (services, request) => {
  return confirm(request, await loadCluster(services, request));
});

/** POST …/delete */
export const removeCluster = adminAction(async (services, request) => {
  const { slug: org } = request.organization;
  const cluster = await loadCluster(services, request);
  const outcome = await tryForm(() => deleteCluster(services, request.actor, cluster));
  if ("done" in outcome) return withNotice(pathTo(patterns.clustersPage, { org }), "cluster_deleted");
  const stillUsed = await describeStillUsed(services.db, { clusterId: cluster.id }, org);
  return confirm(request, cluster, stillUsed ?? asSentence(outcome.problems));
});

function confirm(request: MemberRequest, cluster: Cluster, problem?: ComponentChildren): PageContent {
  return confirmation({
    title: `Delete the cluster ${cluster.name}?`,
    section: "clusters",
    text: "Its queues and secrets go with it. This cannot be undone.",
    button: "Delete",
    path: clusterPath(request, cluster, patterns.deleteClusterPage),
    back: clusterPath(request, cluster),
    problem,
  });
}
