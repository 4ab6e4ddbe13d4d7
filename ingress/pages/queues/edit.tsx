import { patterns } from "../../../shared/paths.ts";
import { queueMembers } from "../../../shared/queues/members.ts";
import { updateQueue } from "../../../shared/queues/queues.ts";
import { loadQueue, queuePath } from "../address/queue.ts";
import { draftOf } from "../resources/draft.ts";
import { MemberFields } from "../resources/fields.tsx";
import { formPage } from "../resources/form-page.tsx";
import { withNotice } from "../ui/notices.ts";
import { queueFields, toQueueChange } from "./form.tsx";

/** GET and POST …/edit */
export const editQueue = formPage({
  members: queueMembers,
  title: "Edit",
  section: "clusters",
  button: "Save",
  load: loadQueue,
  heading: ({ queue }) => `Edit ${queue.key}`,
  path: (request, { queue }) => queuePath(request, queue, patterns.editQueuePage),
  back: (request, { queue }) => queuePath(request, queue),
  draft: ({ queue }) => draftOf(queueMembers, queue),
  fields: ({ draft, problems, request: { organization }, loaded: { queue } }) => (
    <MemberFields
      members={queueMembers}
      when="change"
      own={queueFields(queue, { draft, problems, organization })}
      draft={draft}
      problems={problems}
    />
  ),
  save: async (services, request, { loaded: { queue }, draft }) => {
    await updateQueue(services, request.actor, queue, toQueueChange(draft, queue));
    return withNotice(queuePath(request, queue), "queue_saved");
  },
});
