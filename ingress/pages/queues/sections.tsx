import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { kindOf, shown } from "../clusters/show.tsx";
import { CsrfField, PostButton, TextArea } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { Time } from "../ui/times.tsx";
import { pathOf } from "./load.ts";
import type { QueueDetails } from "./show.tsx";

export const maxNoteLength = 2000;

/** Who paused it, and why; admins end that here. */
export function Pause({ request, at, now }: { request: MemberRequest; at: QueueDetails; now: Date }) {
  const { queue } = at;
  if (!queue.dispatchPausedAt) return null;
  return (
    <div class="warning">
      <p>
        Paused by {at.nameOf(queue.dispatchPausedById)} <Time at={queue.dispatchPausedAt} now={now} />. Jobs
        that wait here are handed out once it is resumed.
      </p>
      {queue.dispatchPausedNote && <p class="note">{queue.dispatchPausedNote}</p>}
      {request.role === "admin" && (
        <PostButton visitor={request.visitor} path={pathOf(request, queue, patterns.resumeQueuePage)}>
          Resume
        </PostButton>
      )}
    </div>
  );
}

/** Pauses the queue, with a note that says why. */
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
      <form method="post" action={pathOf(request, queue, patterns.pauseQueuePage)}>
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

/** What there is to know of a queue. */
export function Facts({ at: { cluster, queue, counts, nameOf }, now }: { at: QueueDetails; now: Date }) {
  return (
    <dl class="facts panel">
      <dt>Jobs waiting</dt>
      <dd>{shown(counts?.waiting ?? 0)}</dd>
      <dt>Jobs running</dt>
      <dd>{shown(counts?.running ?? 0)}</dd>
      <dt>Agents</dt>
      <dd>{kindOf(queue)}</dd>
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
          <dd>{affinityInWords(queue)}</dd>
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

function affinityInWords({ retryAgentAffinity }: Queue): string {
  return retryAgentAffinity === "prefer-warmest" ? "agents that just finished a job" : "a different agent";
}

/** Builds that go on once it is resumed. */
export function PausedBuilds({
  held: { builds, more, isAll },
  org,
}: {
  held: NonNullable<QueueDetails["heldBack"]>;
  org: string;
}) {
  return (
    <section aria-labelledby="held-back">
      <h2 id="held-back">Builds that wait for it</h2>
      {builds.length === 0 ? (
        <p class="quiet">None.</p>
      ) : (
        <ul class="links">
          {builds.map(({ build, pipeline }) => (
            <li key={build.id}>
              <a
                href={pathTo(patterns.buildPage, { org, slug: pipeline.slug, number: String(build.number) })}
              >
                {pipeline.name} #{build.number}
              </a>{" "}
              {build.message}
            </li>
          ))}
        </ul>
      )}
      {(more > 0 || !isAll) && (
        <p class="quiet">
          and {more.toLocaleString("en")}
          {isAll ? " more" : " or more"}
        </p>
      )}
    </section>
  );
}
