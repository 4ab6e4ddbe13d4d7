import type { ComponentChildren } from "preact";
import { patterns } from "../../../shared/paths.ts";
import { deleteQueue } from "../../../shared/queues/queues.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { clusterPath } from "../address/cluster.ts";
import { type LoadedQueue, loadQueue, queuePath } from "../address/queue.ts";
import { adminAction, adminPage, type MemberRequest } from "../ui/member-page.ts";
import { confirmation } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { asSentence, tryForm } from "../ui/problems.ts";
import { describeStillUsed } from "../ui/still-used.tsx";

/** GET …/delete */
export const deleteQueuePage = adminPage(async (services, request) => {
  const { queue } = await loadQueue(services, request);
  return confirm(request, queue);
});

/** POST …/delete */
export const removeQueue = adminAction(async (services, request) => {
  const { cluster, queue } = await loadQueue(services, request);
  const outcome = await tryForm(() => deleteQueue(services, request.actor, queue));
  if ("done" in outcome) return withNotice(clusterPath(request, cluster), "queue_deleted");
  const dependents = await describeDependents(services, request, { cluster, queue });
  return confirm(request, queue, dependents ?? asSentence(outcome.problems));
});

/** Says what needs the queue. Undefined if only unfinished jobs do. */
async function describeDependents(
  { db }: Services,
  request: MemberRequest,
  { cluster, queue }: LoadedQueue,
): Promise<ComponentChildren> {
  if (cluster.defaultQueueId === queue.id)
    return (
      <>
        It is the default queue of its cluster.{" "}
        <a href={clusterPath(request, cluster, patterns.editClusterPage)}>Choose another one</a> first.
      </>
    );
  const dependents = { clusterId: cluster.id, queueKey: queue.key };
  return describeStillUsed(db, dependents, request.organization.slug);
}

function confirm(request: MemberRequest, queue: Queue, problem?: ComponentChildren): PageContent {
  return confirmation({
    title: `Delete the queue ${queue.key}?`,
    section: "clusters",
    text: "Agents that are assigned to it get no more jobs. This cannot be undone.",
    button: "Delete",
    path: queuePath(request, queue, patterns.deleteQueuePage),
    back: queuePath(request, queue),
    problem,
  });
}
