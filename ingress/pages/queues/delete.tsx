import { patterns } from "../../../shared/paths.ts";
import { deleteQueue } from "../../../shared/queues/queues.ts";
import { clusterPath } from "../address/cluster.ts";
import { loadQueue, queuePath } from "../address/queue.ts";
import { confirmPage } from "../resources/confirm-page.tsx";
import { describeStillUsed } from "../resources/still-used.tsx";
import { withNotice } from "../ui/notices.ts";

/** GET and POST …/delete */
export const deleteQueuePage = confirmPage({
  section: "clusters",
  load: loadQueue,
  title: ({ queue }) => `Delete the queue ${queue.key}?`,
  text: () => "Agents that are assigned to it get no more jobs. This cannot be undone.",
  path: (request, { queue }) => queuePath(request, queue, patterns.deleteQueuePage),
  back: (request, { queue }) => queuePath(request, queue),
  run: async (services, request, { cluster, queue }) => {
    await deleteQueue(services, request.actor, queue);
    return withNotice(clusterPath(request, cluster), "queue_deleted");
  },
  explain: ({ db }, request, { cluster, queue }) =>
    cluster.defaultQueueId === queue.id ? (
      <>
        It is the default queue of its cluster.{" "}
        <a href={clusterPath(request, cluster, patterns.editClusterPage)}>Choose another one</a> first.
      </>
    ) : (
      describeStillUsed(db, { clusterId: cluster.id, queueKey: queue.key }, request.organization.slug)
    ),
});
