import { patterns } from "../../../shared/paths.ts";
import { updateQueue } from "../../../shared/queues/queues.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { loadQueue, queuePath } from "../address/queue.ts";
import { PostForm } from "../ui/form.tsx";
import { adminAction, adminPage, type MemberRequest } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
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
export const editQueuePage = adminPage(async (services, request) => {
  const { queue } = await loadQueue(services, request);
  return show(request, { queue, draft: draftOfQueue(queue) });
});

/** POST …/edit {description, shape, affinity, image} */
export const saveQueue = adminAction(async (services, request, form) => {
  const { queue } = await loadQueue(services, request);
  const draft = readQueueDraft(form);
  const outcome = await tryForm(
    () => updateQueue(services, request.actor, queue, toQueueChange(draft, queue)),
    queueFields,
  );
  if ("problems" in outcome) return show(request, { queue, draft, problems: outcome.problems });
  return withNotice(queuePath(request, queue), "queue_saved");
});

function show(
  request: MemberRequest,
  { queue, draft, problems }: { queue: Queue; draft: QueueDraft; problems?: FormProblems },
): PageContent {
  const { organization } = request;
  return narrowPage({
    title: "Edit",
    problems,
    section: "clusters",
    heading: `Edit ${queue.key}`,
    content: (
      <PostForm
        path={queuePath(request, queue, patterns.editQueuePage)}
        problems={problems}
        button="Save"
        back={queuePath(request, queue)}
      >
        <QueueFields draft={draft} organization={organization} problems={problems} queue={queue} />
      </PostForm>
    ),
  });
}
