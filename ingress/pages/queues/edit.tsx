import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import { updateQueue } from "../../../shared/queues/queues.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import type { Bodies } from "../../http/body.ts";
import { loadQueue, queuePath } from "../address/queue.ts";
import { CsrfField, FormError } from "../ui/form.tsx";
import { adminAction, type MemberRequest, memberPage, requireAdmin } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import {
  draftOfQueue,
  type QueueDraft,
  QueueFields,
  queueFields,
  readQueueDraft,
  toQueueChange,
} from "./form.tsx";

/** GET …/edit */
export function editQueuePage(services: Services) {
  return memberPage(services, async (request) => {
    requireAdmin(request);
    const { queue } = await loadQueue(services, request);
    return show(request, { queue, draft: draftOfQueue(queue) });
  });
}

/** POST …/edit {description, shape, affinity, image} */
export function saveQueue(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request, form) => {
    const { queue } = await loadQueue(services, request);
    const draft = readQueueDraft(form);
    const outcome = await tryForm(
      () => updateQueue(services, request.actor, queue, toQueueChange(draft, queue)),
      queueFields,
    );
    if ("problems" in outcome) return show(request, { queue, draft, problems: outcome.problems });
    return withNotice(queuePath(request, queue), "queue_saved");
  });
}

function show(
  request: MemberRequest,
  { queue, draft, problems }: { queue: Queue; draft: QueueDraft; problems?: FormProblems },
): PageContent {
  const { organization, visitor } = request;
  return {
    title: "Edit",
    status: problems ? 422 : 200,
    within: { organization, section: "clusters" },
    content: (
      <div class="narrow">
        <h1>Edit {queue.key}</h1>
        <form method="post" action={queuePath(request, queue, patterns.editQueuePage)}>
          <CsrfField visitor={visitor} />
          <FormError problems={problems} />
          <QueueFields draft={draft} organization={organization} problems={problems} queue={queue} />
          <p class="actions">
            <button type="submit">Save</button>
            <a class="button secondary" href={queuePath(request, queue)}>
              Cancel
            </a>
          </p>
        </form>
      </div>
    ),
  };
}
