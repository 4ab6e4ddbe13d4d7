import { deleteCluster } from "../../../shared/clusters/clusters.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { clusterPath, loadCluster } from "../address/cluster.ts";
import { confirmPage } from "../resources/confirm-page.tsx";
import { describeStillUsed } from "../resources/still-used.tsx";
import { withNotice } from "../ui/notices.ts";

/** GET and POST …/delete */
export const deleteClusterPage = confirmPage({
  section: "clusters",
  load: loadCluster,
  title: ({ name }) => `Delete the cluster ${name}?`,
  text: () => "Its queues and secrets go with it. This cannot be undone.",
  path: (request, cluster) => clusterPath(request, cluster, patterns.deleteClusterPage),
  back: (request, cluster) => clusterPath(request, cluster),
  run: async (services, request, cluster) => {
    await deleteCluster(services, request.actor, cluster);
    return withNotice(pathTo(patterns.clustersPage, { org: request.organization.slug }), "cluster_deleted");
  },
  explain: ({ db }, { organization }, { id }) => describeStillUsed(db, { clusterId: id }, organization.slug),
});
