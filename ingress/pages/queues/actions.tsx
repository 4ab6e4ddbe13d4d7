import type { HTTPResponse } from "h3";
import type { ComponentChildren } from "preact";
import { pauseDispatch, resumeDispatch } from "../../../shared/dispatch/pause.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { deleteQueue } from "../../../shared/queues/queues.ts";
import { listPipelinesOfQueue, type Queue } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { problemsOf, text } from "../../../shared/validation.ts";
import type { Bodies } from "../../http/body.ts";
import { seeOther } from "../../http/respond.ts";
import { confirmation } from "../ui/confirmation.tsx";
import { adminAction, type MemberRequest, memberPage, requireAdmin } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { asSentence, tryForm } from "../ui/problems.ts";
import { StillUsed } from "../ui/still-used.tsx";
import { pathOf, type QueueAt, queueOf } from "./load.ts";
import { maxNoteLength } from "./sections.tsx";
import { showQueue } from "./show.tsx";

/** POST …/pause {note}. Whoever finds it paused already, by a double click too, is shown that. */
export function pauseQueue(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request, form) => {
    const { queue } = await queueOf(services, request);
    const note = form.get("note") ?? "";
    const problems = problemsOf(text("Note", maxNoteLength), note, "note");
    if (problems.length > 0) return showQueue(services, request, { note, problem: asSentence(problems) });

    const outcome = await tryForm(() => pauseDispatch(services, request.actor, queue, note || null));
    if ("done" in outcome) return withNotice(pathOf(request, queue), "queue_paused");
    const { queue: present } = await queueOf(services, request);
    if (!present.dispatchPausedAt) return showQueue(services, request, { note, problem: outcome.problem });
    if (note === "" || note === present.dispatchPausedNote) return pathOf(request, queue);
    return showQueue(services, request, { note, problem: <LostNote note={note} /> });
  });
}

/** POST …/resume. It may run already: somebody was faster. */
export function resumeQueue(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request) => {
    const { queue } = await queueOf(services, request);
    const outcome = await tryForm(() => resumeDispatch(services, request.actor, queue));
    const path = pathOf(request, queue);
    return "done" in outcome ? withNotice(path, "queue_resumed") : path;
  });
}

/** What was typed while somebody else paused, so that it can be copied. */
function LostNote({ note }: { note: string }) {
  return (
    <>
      It is already paused. Your note was not saved: <span class="note">{note}</span>
    </>
  );
}

/** GET of an address that takes a form only: who signs in after sending one comes back to here. */
export function backToQueue(services: Services) {
  return memberPage(services, async (request): Promise<HTTPResponse> => {
    const { queue } = await queueOf(services, request);
    return seeOther(pathOf(request, queue));
  });
}

/** GET …/delete */
export function deleteQueuePage(services: Services) {
  return memberPage(services, async (request) => {
    requireAdmin(request);
    return askToDelete(request, (await queueOf(services, request)).queue);
  });
}

/** POST …/delete */
export function removeQueue(services: Services, bodies: Bodies) {
  return adminAction(services, bodies, async (request) => {
    const at = await queueOf(services, request);
    const { queue } = at;
    const outcome = await tryForm(() => deleteQueue(services, request.actor, queue));
    if ("problem" in outcome)
      return askToDelete(request, queue, await reasonToKeep(services, request, at, outcome.problem));
    const cluster = pathTo(patterns.clusterPage, {
      org: request.organization.slug,
      cluster: queue.clusterId,
    });
    return withNotice(cluster, "queue_deleted");
  });
}

/** Why the queue cannot be deleted, and where to change that. */
async function reasonToKeep(
  { db }: Services,
  { organization }: MemberRequest,
  { cluster, queue }: QueueAt,
  problem: string,
): Promise<ComponentChildren> {
  const org = organization.slug;
  if (cluster.defaultQueueId === queue.id)
    return (
      <>
        It is the default queue of its cluster.{" "}
        <a href={pathTo(patterns.editClusterPage, { org, cluster: cluster.id })}>Choose another one</a> first.
      </>
    );
  const pipelines = await listPipelinesOfQueue(db, queue);
  return pipelines.length > 0 ? <StillUsed pipelines={pipelines} org={org} /> : problem;
}

function askToDelete(request: MemberRequest, queue: Queue, problem?: ComponentChildren): PageContent {
  return confirmation(request.visitor, {
    title: `Delete the queue ${queue.key}?`,
    within: { organization: request.organization, section: "clusters" },
    text: "Agents that are assigned to it get no more jobs. This cannot be undone.",
    button: "Delete",
    path: pathOf(request, queue, patterns.deleteQueuePage),
    back: pathOf(request, queue),
    problem,
  });
}
