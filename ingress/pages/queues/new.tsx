import { patterns } from "../../../shared/paths.ts";
import { queueMembers } from "../../../shared/queues/members.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import { clusterPath, loadCluster } from "../address/cluster.ts";
import { queuePath } from "../address/queue.ts";
import { draftOf } from "../resources/draft.ts";
import { MemberFields } from "../resources/fields.tsx";
import { formPage } from "../resources/form-page.tsx";
import { withNotice } from "../ui/notices.ts";
import { newQueueFields, toNewQueue } from "./form.tsx";

/** GET and POST …/queues/new */
export const newQueuePage = formPage({
  members: queueMembers,
  title: "New queue",
  section: "clusters",
  button: "Create queue",
  load: loadCluster,
  heading: (cluster) => `New queue in ${cluster.name}`,
  path: (request, cluster) => clusterPath(request, cluster, patterns.newQueuePage),
  back: (request, cluster) => clusterPath(request, cluster),
  draft: () => draftOf(queueMembers),
  fields: ({ draft, problems, request: { organization } }) => (
    <MemberFields
      members={queueMembers}
      when="create"
      own={newQueueFields(draft, organization)}
      draft={draft}
      problems={problems}
    />
  ),
  save: async (services, request, { loaded: cluster, draft }) =>
    withNotice(
      queuePath(request, await createQueue(services, request.actor, cluster, toNewQueue(draft))),
      "queue_created",
    ),
});
