import { patterns } from "../../../shared/paths.ts";
import { queueMembers } from "../../../shared/queues/members.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import { listQueueKeys } from "../../../shared/queues/store.ts";
import { clusterPath, loadCluster } from "../address/cluster.ts";
import { queuePath } from "../address/queue.ts";
import { draftOf } from "../resources/draft.ts";
import { MemberFields } from "../resources/fields.tsx";
import { formPage } from "../resources/form-page.tsx";
import { withNotice } from "../ui/notices.ts";
import { newQueueFields, toNewQueue } from "./form.tsx";

/** GET and POST …/queues/new. The first queue of a cluster becomes its default queue: a cluster without one runs little. */
export const newQueuePage = formPage({
  members: queueMembers,
  title: "New queue",
  section: "clusters",
  button: "Create queue",
  load: async (services, request) => {
    const cluster = await loadCluster(services, request);
    return { cluster, isFirst: (await listQueueKeys(services.db, cluster.id, 1)).length === 0 };
  },
  heading: ({ cluster }) => `New queue in ${cluster.name}`,
  path: (request, { cluster }) => clusterPath(request, cluster, patterns.newQueuePage),
  back: (request, { cluster }) => clusterPath(request, cluster),
  draft: () => draftOf(queueMembers),
  fields: ({ draft, problems, request: { organization }, loaded: { isFirst } }) => (
    <>
      {isFirst && (
        <p>
          The first queue is the default queue of its cluster: steps and agents that name no queue use it. A
          good key is “default”.
        </p>
      )}
      <MemberFields
        members={queueMembers}
        when="create"
        own={newQueueFields(draft, organization)}
        draft={draft}
        problems={problems}
      />
    </>
  ),
  save: async (services, request, { loaded: { cluster, isFirst }, draft }) => {
    const input = { ...toNewQueue(draft), isDefault: isFirst };
    const queue = await createQueue(services, request.actor, cluster, input);
    return withNotice(queuePath(request, queue), "queue_created");
  },
});
