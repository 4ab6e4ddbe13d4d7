import { createCluster } from "../../../shared/clusters/clusters.ts";
import { clusterMembers, newCluster } from "../../../shared/clusters/members.ts";
import { clusterPath } from "../address/cluster.ts";
import { fieldNamesOf, parseDraft, readDraft } from "../resources/draft.ts";
import { adminAction } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import { tryForm } from "../ui/problems.ts";
import { showClusters } from "./list.tsx";

/** POST …/clusters, with the fields of new clusters. */
export const addCluster = adminAction(async (services, request, form) => {
  const draft = readDraft(clusterMembers, form);
  const outcome = await tryForm(
    async () => createCluster(services, request.actor, parseDraft(newCluster, clusterMembers, draft)),
    fieldNamesOf(clusterMembers),
  );
  if ("problems" in outcome) return showClusters(services, request, { draft, problems: outcome.problems });
  return withNotice(clusterPath(request, outcome.done), "cluster_created");
});
