import type { WaitingReason } from "../../../shared/agents/waiting/reason.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { queuePath } from "../address/queue.ts";
import { StartAgent } from "../agents/start.tsx";
import { PostButton } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { WaitsFor } from "./waiting.tsx";

const needingPeople: WaitingReason["kind"][] = [
  "queue_paused",
  "no_agent",
  "no_agent_with_tags",
  "agents_paused",
];

/** Returns true for a reason that stays until somebody does something. */
export function needsPeople({ kind }: WaitingReason): boolean {
  return needingPeople.includes(kind);
}

/** The reason with what mends it, if somebody has to do something. */
export function Waiting(props: Parameters<typeof WaitsFor>[0]) {
  if (!needsPeople(props.reason))
    return (
      <p class="lead">
        <WaitsFor {...props} />.
      </p>
    );
  return (
    <div class="warning">
      <Cause {...props} />
    </div>
  );
}

/** Part of a warning. */
export function Cause(props: Parameters<typeof WaitsFor>[0]) {
  return (
    <>
      <p>
        <WaitsFor {...props} />.
      </p>
      <Remedy reason={props.reason} request={props.request} />
    </>
  );
}

function Remedy({ reason, request }: { reason: WaitingReason; request: MemberRequest }) {
  switch (reason.kind) {
    case "queue_paused":
      return <Resume queue={reason.queue} request={request} />;
    case "no_agent":
    case "no_agent_with_tags":
      return (
        <StartAgent
          cluster={{ id: reason.queue.clusterId }}
          queues={[reason.queue]}
          tags={reason.tags}
          request={request}
        />
      );
    default:
      return null;
  }
}

/** The note of a pause, and what ends it. */
export function Resume({ queue, request }: { queue: Queue; request: MemberRequest }) {
  return (
    <>
      {queue.dispatchPausedNote && <p class="note">{queue.dispatchPausedNote}</p>}
      {request.role === "admin" ? (
        <PostButton path={queuePath(request, queue, patterns.resumeQueuePage)}>Resume the queue</PostButton>
      ) : (
        <p>Admins can resume it.</p>
      )}
    </>
  );
}

/** One paragraph for all queues of a cluster that have no agent. */
export function NoAgents({ queues, request }: { queues: Queue[]; request: MemberRequest }) {
  const cluster = { id: queues[0]?.clusterId ?? "" };
  const last = queues.length - 1;
  return (
    <>
      <p>
        No agent of the {queues.length === 1 ? "queue" : "queues"}{" "}
        {queues.map((queue, index) => (
          <span key={queue.id}>
            {index > 0 && (index === last ? " and " : ", ")}
            <a href={queuePath(request, queue)}>{queue.key}</a>
          </span>
        ))}{" "}
        is connected.
      </p>
      <StartAgent cluster={cluster} queues={queues} request={request} />
    </>
  );
}
