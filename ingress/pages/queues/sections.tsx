import { patterns } from "../../../shared/paths.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { maxNoteLength } from "../../../shared/validation.ts";
import { queuePath } from "../address/queue.ts";
import { CsrfField, PostButton, TextArea } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { Time } from "../ui/times.tsx";
import type { QueueDetails } from "./load.ts";
import { affinityWords, agentsInWords, jobCountInWords } from "./words.ts";

/** The pause, with a button for admins to end it. */
export function Pause({
  request,
  details: { queue, nameOf },
  now,
}: {
  request: MemberRequest;
  details: QueueDetails;
  now: Date;
}) {
  if (!queue.dispatchPausedAt) return null;
  return (
    <div class="warning">
      <p>
        Paused by {nameOf(queue.dispatchPausedById)} <Time at={queue.dispatchPausedAt} now={now} />. Jobs that
        wait here are handed out once it is resumed.
      </p>
      {queue.dispatchPausedNote && <p class="note">{queue.dispatchPausedNote}</p>}
      {request.role === "admin" && (
        <PostButton visitor={request.visitor} path={queuePath(request, queue, patterns.resumeQueuePage)}>
          Resume
        </PostButton>
      )}
    </div>
  );
}

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
    <section class="card" aria-labelledby="pause">
      <h2 id="pause">Pause this queue</h2>
      <form method="post" action={queuePath(request, queue, patterns.pauseQueuePage)}>
        <CsrfField visitor={request.visitor} />
        <TextArea
          label="Note"
          name="note"
          value={note}
          maxLength={maxNoteLength}
          hint="Optional. Shown here and on builds that wait. Jobs that run go on."
        />
        <p class="actions">
          <button type="submit">Pause</button>
        </p>
      </form>
    </section>
  );
}

export function Facts({
  details: { cluster, queue, counts, nameOf },
  now,
}: {
  details: QueueDetails;
  now: Date;
}) {
  return (
    <dl class="facts panel">
      <dt>Jobs waiting</dt>
      <dd>{jobCountInWords(counts?.waiting ?? 0)}</dd>
      <dt>Jobs running</dt>
      <dd>{jobCountInWords(counts?.running ?? 0)}</dd>
      <dt>Agents</dt>
      <dd>{agentsInWords(queue)}</dd>
      {queue.agentImageRef && (
        <>
          <dt>Image</dt>
          <dd>
            <code>{queue.agentImageRef}</code>
          </dd>
        </>
      )}
      {queue.instanceShape === null && (
        <>
          <dt>Retries prefer</dt>
          <dd>{affinityWords[queue.retryAgentAffinity]}</dd>
        </>
      )}
      {queue.id === cluster.defaultQueueId && (
        <>
          <dt>Default queue</dt>
          <dd>Steps that name no queue run here.</dd>
        </>
      )}
      <dt>Created</dt>
      <dd>
        <Time at={queue.createdAt} now={now} /> by {nameOf(queue.createdById)}
      </dd>
    </dl>
  );
}
