import { pauseDispatch, resumeDispatch } from "../../../shared/dispatch/pause.ts";
import { pauseNote, problemsOf } from "../../../shared/validation.ts";
import { loadQueue, queuePath } from "../address/queue.ts";
import { adminAction, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import { asSentence, tryForm } from "../ui/problems.ts";
import { showQueue } from "./show.tsx";

/** POST …/pause {note}. After a double click the queue is paused already. */
export const pauseQueue = adminAction(async (services, request, form) => {
  const { queue } = await loadQueue(services, request);
  const note = form.get("note") ?? "";
  const problems = problemsOf(pauseNote, note);
  if (problems.length > 0) return showQueue(services, request, { note, problem: asSentence(problems) });

  const outcome = await tryForm(() => pauseDispatch(services, request.actor, queue, note || null));
  if ("done" in outcome) return withNotice(queuePath(request, queue), "queue_paused");
  const { queue: present } = await loadQueue(services, request);
  if (!present.dispatchPausedAt)
    return showQueue(services, request, { note, problem: asSentence(outcome.problems) });
  if (note === "" || note === present.dispatchPausedNote) return queuePath(request, queue);
  return showQueue(services, request, { note, problem: <LostNote note={note} /> });
});

/** POST …/resume. */
export const resumeQueue = adminAction(async (services, request) => {
  const { queue } = await loadQueue(services, request);
  const outcome = await tryForm(() => resumeDispatch(services, request.actor, queue));
  const path = queuePath(request, queue);
  return "done" in outcome ? withNotice(path, "queue_resumed") : path;
});

/** GET of a form-only address: a visitor whose session ended returns here after signing in. */
export const redirectToQueue = memberPage(async (services, request) => {
  const { queue } = await loadQueue(services, request);
  return queuePath(request, queue);
});

/** Lets the admin copy the note. */
function LostNote({ note }: { note: string }) {
  return (
    <>
      It is already paused. Your note was not saved: <span class="note">{note}</span>
    </>
  );
}
