import { createCluster } from "../../../shared/clusters/clusters.ts";
import { clusterPath } from "../address/cluster.ts";
import { adminAction } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import { tryForm } from "../ui/problems.ts";
import { clusterFields, readClusterDraft, toNewCluster } from "./form.tsx";
import { showClusters } from "./list.tsx";

/** POST …/clusters {name, description}. */
export const addCluster = adminAction(async (services, request, form) => {
  const draft = readClusterDraft(form);
  const outcome = await tryForm(
    () => createCluster(services, request.actor, toNewCluster(draft)),
    clusterFields,
  );
  if ("problems" in outcome) return showClusters(services, request, { draft, problems: outcome.problems });
  return withNotice(clusterPath(request, outcome.done), "cluster_created");
});
