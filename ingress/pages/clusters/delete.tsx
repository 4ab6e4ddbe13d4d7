import type { ComponentChildren } from "preact";
import { deleteCluster } from "../../../shared/clusters/clusters.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { listPipelinesOfCluster } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/process/services.ts";
import type { Bodies } from "../../http/body.ts";
import { clusterPath, loadCluster } from "../address/cluster.ts";
import { confirmation } from "../ui/confirmation.tsx";
import { adminAction, type MemberRequest, memberPage, requireAdmin } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { asSentence, tryForm } from "../ui/problems.ts";
import { StillUsed } from "../ui/still-used.tsx";

/** GET …/delete */
export function deleteClusterPage(services: Services) {
  return memberPage(services, async (request) => {
    requireAdmin(request);
    return confirm(request, await loadCluster(services, request));
  });
}

/** POST …/delete */
export function removeCluster(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request) => {
    const { slug: org } = request.organization;
    const cluster = await loadCluster(services, request);
    const outcome = await tryForm(() => deleteCluster(services, request.actor, cluster));
    if ("done" in outcome) return withNotice(pathTo(patterns.clustersPage, { org }), "cluster_deleted");
    const pipelines = await listPipelinesOfCluster(services.db, cluster.id);
    const problem =
      pipelines.length > 0 ? <StillUsed pipelines={pipelines} org={org} /> : asSentence(outcome.problems);
    return confirm(request, cluster, problem);
  });
}

function confirm(request: MemberRequest, cluster: Cluster, problem?: ComponentChildren): PageContent {
  return confirmation(request.visitor, {
    title: `Delete the cluster ${cluster.name}?`,
    within: { organization: request.organization, section: "clusters" },
    text: "Its queues go with it. This cannot be undone.",
    button: "Delete",
    path: clusterPath(request, cluster, patterns.deleteClusterPage),
    back: clusterPath(request, cluster),
    problem,
  });
}
