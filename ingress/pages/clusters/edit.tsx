import { updateCluster } from "../../../shared/clusters/clusters.ts";
import { clusterChange, clusterMembers } from "../../../shared/clusters/members.ts";
import { patterns } from "../../../shared/paths.ts";
import { clusterPath } from "../address/cluster.ts";
import { draftOf, parseDraft } from "../resources/draft.ts";
import { MemberFields } from "../resources/fields.tsx";
import { formPage } from "../resources/form-page.tsx";
import { Select } from "../ui/form.tsx";
import { withNotice } from "../ui/notices.ts";
import { loadClusterAndQueues } from "./load.ts";

/** GET and POST …/edit */
export const editCluster = formPage({
  members: clusterMembers,
  title: "Edit",
  section: "clusters",
  button: "Save",
  load: loadClusterAndQueues,
  heading: ({ cluster }) => `Edit ${cluster.name}`,
  path: (request, { cluster }) => clusterPath(request, cluster, patterns.editClusterPage),
  back: (request, { cluster }) => clusterPath(request, cluster),
  draft: ({ cluster }) => draftOf(clusterMembers, cluster),
  fields: ({ draft, problems, loaded: { queues } }) => {
    const options = [["", "none"], ...queues.map(({ id, key }) => [id, key] as const)] as const;
    const defaultQueueId = (
      <Select
        label="Default queue"
        api="default_queue_id"
        name="default_queue"
        value={draft.defaultQueueId ?? ""}
        options={options}
      />
    );
    return (
      <MemberFields
        members={clusterMembers}
        when="change"
        draft={draft}
        problems={problems}
        own={{ defaultQueueId }}
      />
    );
  },
  save: async (services, request, { loaded: { cluster }, draft }) => {
    await updateCluster(services, request.actor, cluster, parseDraft(clusterChange, clusterMembers, draft));
    return withNotice(clusterPath(request, cluster), "cluster_saved");
  },
});
