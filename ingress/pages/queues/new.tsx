import type { Cluster } from "../../../shared/clusters/store.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import type { Bodies } from "../../http/body.ts";
import { clusterPath, loadCluster } from "../address/cluster.ts";
import { queuePath } from "../address/queue.ts";
import { CsrfField, FormError } from "../ui/form.tsx";
import { adminAction, type MemberRequest, memberPage, requireAdmin } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { NewQueueFields, type QueueDraft, queueFields, readQueueDraft, toNewQueue } from "./form.tsx";

/** GET …/queues/new */
export function newQueuePage(services: Services) {
  return memberPage(services, async (request) => {
    requireAdmin(request);
    const cluster = await loadCluster(services, request);
    return show(request, { cluster, draft: readQueueDraft(new URLSearchParams()) });
  });
}

/** POST …/queues/new {key, description, shape, affinity} */
export function addQueue(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request, form) => {
    const cluster = await loadCluster(services, request);
    const draft = readQueueDraft(form);
    const outcome = await tryForm(
      () => createQueue(services, request.actor, cluster, toNewQueue(draft)),
      queueFields,
    );
    if ("problems" in outcome) return show(request, { cluster, draft, problems: outcome.problems });
    return withNotice(queuePath(request, outcome.done), "queue_created");
  });
}

function show(
  request: MemberRequest,
  { cluster, draft, problems }: { cluster: Cluster; draft: QueueDraft; problems?: FormProblems },
): PageContent {
  const { organization, visitor } = request;
  return {
    title: "New queue",
    status: problems ? 422 : 200,
    within: { organization, section: "clusters" },
    content: (
      <div class="narrow">
        <h1>New queue in {cluster.name}</h1>
        <form method="post" action={clusterPath(request, cluster, patterns.newQueuePage)}>
          <CsrfField visitor={visitor} />
          <FormError problems={problems} />
          <NewQueueFields draft={draft} organization={organization} problems={problems} />
          <p class="actions">
            <button type="submit">Create queue</button>
            <a class="button secondary" href={clusterPath(request, cluster)}>
              Cancel
            </a>
          </p>
        </form>
      </div>
    ),
  };
}
