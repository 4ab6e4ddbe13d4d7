import { updateCluster } from "../../../shared/clusters/clusters.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import { patterns } from "../../../shared/paths.ts";
import type { QueueKey } from "../../../shared/queues/store.ts";
import { clusterPath } from "../address/cluster.ts";
import { PostForm } from "../ui/form.tsx";
import { adminAction, adminPage, type MemberRequest } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import {
  type ClusterDraft,
  ClusterFields,
  clusterFields,
  DefaultQueueField,
  draftOfCluster,
  readClusterDraft,
  toClusterChange,
} from "./form.tsx";
import { loadClusterAndQueues } from "./load.ts";

/** GET …/edit */
export const editClusterPage = adminPage(async (services, request) => {
  const { cluster, queues } = await loadClusterAndQueues(services, request);
  return show(request, { cluster, queues, draft: draftOfCluster(cluster) });
});

/** POST …/edit {name, description, default_queue} */
export const saveCluster = adminAction(async (services, request, form) => {
  const { cluster, queues } = await loadClusterAndQueues(services, request);
  const draft = readClusterDraft(form);
  const outcome = await tryForm(
    () => updateCluster(services, request.actor, cluster, toClusterChange(draft)),
    clusterFields,
  );
  if ("problems" in outcome) return show(request, { cluster, queues, draft, problems: outcome.problems });
  return withNotice(clusterPath(request, cluster), "cluster_saved");
});

function show(
  request: MemberRequest,
  {
    cluster,
    queues,
    draft,
    problems,
  }: { cluster: Cluster; queues: QueueKey[]; draft: ClusterDraft; problems?: FormProblems },
): PageContent {
  return narrowPage({
    title: "Edit",
    problems,
    section: "clusters",
    heading: `Edit ${cluster.name}`,
    content: (
      <PostForm
        path={clusterPath(request, cluster, patterns.editClusterPage)}
        problems={problems}
        button="Save"
        back={clusterPath(request, cluster)}
      >
        <ClusterFields draft={draft} problems={problems} />
        <DefaultQueueField value={draft.defaultQueueId} queues={queues} />
      </PostForm>
    ),
  });
}
