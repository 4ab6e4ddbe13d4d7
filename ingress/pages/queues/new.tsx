import type { Cluster } from "../../../shared/clusters/store.ts";
import { patterns } from "../../../shared/paths.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import { clusterPath, loadCluster } from "../address/cluster.ts";
import { queuePath } from "../address/queue.ts";
import { PostForm } from "../ui/form.tsx";
import { adminAction, adminPage, type MemberRequest } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { NewQueueFields, type QueueDraft, queueFields, readQueueDraft, toNewQueue } from "./form.tsx";

/** GET …/queues/new */
export const newQueuePage = adminPage(async (services, request) => {
  const cluster = await loadCluster(services, request);
  return show(request, { cluster, draft: readQueueDraft(new URLSearchParams()) });
});

/** POST …/queues/new {key, description, shape, affinity} */
export const addQueue = adminAction(async (services, request, form) => {
  const cluster = await loadCluster(services, request);
  const draft = readQueueDraft(form);
  const outcome = await tryForm(
    () => createQueue(services, request.actor, cluster, toNewQueue(draft)),
    queueFields,
  );
  if ("problems" in outcome) return show(request, { cluster, draft, problems: outcome.problems });
  return withNotice(queuePath(request, outcome.done), "queue_created");
});

function show(
  request: MemberRequest,
  { cluster, draft, problems }: { cluster: Cluster; draft: QueueDraft; problems?: FormProblems },
): PageContent {
  const { organization } = request;
  return narrowPage({
    title: "New queue",
    problems,
    section: "clusters",
    heading: `New queue in ${cluster.name}`,
    content: (
      <PostForm
        path={clusterPath(request, cluster, patterns.newQueuePage)}
        problems={problems}
        button="Create queue"
        back={clusterPath(request, cluster)}
      >
        <NewQueueFields draft={draft} organization={organization} problems={problems} />
      </PostForm>
    ),
  });
}
