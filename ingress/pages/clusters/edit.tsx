import { updateCluster } from "../../../shared/clusters/clusters.ts";
import type { Cluster } from "../../../shared/clusters/store.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import type { Bodies } from "../../http/body.ts";
import { clusterPath } from "../address/cluster.ts";
import { CsrfField, FormError } from "../ui/form.tsx";
import { adminAction, type MemberRequest, memberPage, requireAdmin } from "../ui/member-page.ts";
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
export function editClusterPage(services: Services) {
  return memberPage(services, async (request) => {
    requireAdmin(request);
    const { cluster, queues } = await loadClusterAndQueues(services, request);
    return show(request, { cluster, queues, draft: draftOfCluster(cluster) });
  });
}

/** POST …/edit {name, description, default_queue} */
export function saveCluster(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request, form) => {
    const { cluster, queues } = await loadClusterAndQueues(services, request);
    const draft = readClusterDraft(form);
    const outcome = await tryForm(
      () => updateCluster(services, request.actor, cluster, toClusterChange(draft)),
      clusterFields,
    );
    if ("problems" in outcome) return show(request, { cluster, queues, draft, problems: outcome.problems });
    return withNotice(clusterPath(request, cluster), "cluster_saved");
  });
}

function show(
  request: MemberRequest,
  {
    cluster,
    queues,
    draft,
    problems,
  }: { cluster: Cluster; queues: Queue[]; draft: ClusterDraft; problems?: FormProblems },
): PageContent {
  const { organization, visitor } = request;
  return {
    title: "Edit",
    status: problems ? 422 : 200,
    within: { organization, section: "clusters" },
    content: (
      <div class="narrow">
        <h1>Edit {cluster.name}</h1>
        <form method="post" action={clusterPath(request, cluster, patterns.editClusterPage)}>
          <CsrfField visitor={visitor} />
          <FormError problems={problems} />
          <ClusterFields draft={draft} problems={problems} />
          <DefaultQueueField value={draft.defaultQueueId} queues={queues} />
          <p class="actions">
            <button type="submit">Save</button>
            <a class="button secondary" href={clusterPath(request, cluster)}>
              Cancel
            </a>
          </p>
        </form>
      </div>
    ),
  };
}
