import { patterns } from "../../../shared/paths.ts";
import { queueMembers } from "../../../shared/queues/members.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { maxNoteLength } from "../../../shared/validation.ts";
import { queuePath } from "../address/queue.ts";
import { MemberFacts } from "../resources/fields.tsx";
import { PostButton, PostForm, TextArea } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { Fact } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import type { QueueDetails } from "./load.ts";
import { affinityWords, agentsInWords, jobCountInWords } from "./words.ts";

/** The pause, with a button for admins to end it. */
export function Pause({
  request,
  details: { queue, nameOf },
}: {
  request: MemberRequest;
  details: QueueDetails;
}) {
  if (!queue.dispatchPausedAt) return null;
  return (
    <div class="warning">
      <p>
        Paused by {nameOf(queue.dispatchPausedById)} <Time at={queue.dispatchPausedAt} />. Jobs that wait here
        are handed out once it is resumed.
      </p>
      {queue.dispatchPausedNote && <p class="note">{queue.dispatchPausedNote}</p>}
      {request.role === "admin" && (
        <PostButton path={queuePath(request, queue, patterns.resumeQueuePage)}>Resume</PostButton>
      )}
    </div>
  );
}

/** One line until somebody opens it: people come to see the jobs. @param note of a pause that was refused */
export function PauseForm({
  request,
  queue,
  note,
}: {
  request: MemberRequest;
  queue: Queue;
  note: string | undefined;
}) {
  return (
    <details id="pause" class="fold" open={note !== undefined}>
      <summary>Pause this queue</summary>
      <PostForm path={queuePath(request, queue, patterns.pauseQueuePage)} button="Pause">
        <TextArea
          label="Note"
          name="note"
          value={note}
          maxLength={maxNoteLength}
          hint="Optional. Shown here and on builds that wait. Jobs that run go on."
        />
      </PostForm>
    </details>
  );
}

export function Facts({ details: { cluster, queue, counts, nameOf } }: { details: QueueDetails }) {
  return (
    <dl class="facts panel">
      <Fact name="Jobs waiting" value={jobCountInWords(counts?.waiting ?? 0)} />
      <Fact name="Jobs running" value={jobCountInWords(counts?.running ?? 0)} />
      <Fact name="Agents" value={agentsInWords(queue)} />
      <Fact name="Image" value={queue.agentImageRef && <code>{queue.agentImageRef}</code>} />
      <Fact
        name="Retries prefer"
        value={queue.instanceShape === null && affinityWords[queue.retryAgentAffinity]}
      />
      <MemberFacts
        members={queueMembers}
        row={queue}
        besides={["key", "description", "instanceShape", "agentImageRef", "retryAgentAffinity"]}
      />
      {queue.id === cluster.defaultQueueId && (
        <Fact name="Default queue" value="Steps that name no queue run here." />
      )}
      <dt>Created</dt>
      <dd>
        <Time at={queue.createdAt} /> by {nameOf(queue.createdById)}
      </dd>
    </dl>
  );
}
