import type { WaitingReason } from "../../../shared/agents/waiting/reason.ts";
import type { PlacedGraph } from "../../../shared/builds/rows/graph-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { countWarnings } from "../../../shared/pipelines/warnings.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { Cause, NoAgents, needsPeople, Resume } from "../job-facts/remedy.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { CodeList } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import type { LoadedBuild } from "./load.ts";

/** All that holds jobs of the build back until somebody does something, each cause once. */
export function HeldBack({
  data: { pausedQueues, users, reasons },
  request,
}: {
  data: LoadedBuild;
  request: MemberRequest;
}) {
  const causes = new Map(
    [...reasons.values()]
      .filter((reason) => needsPeople(reason) && reason.kind !== "queue_paused")
      .map((reason) => [causeOf(reason), reason]),
  );
  if (pausedQueues.length + causes.size === 0) return null;
  const withoutAgents = [...causes.values()].flatMap((reason) => (isAlike(reason) ? reason.queue : []));
  const others = [...causes].filter(([, reason]) => !isAlike(reason));
  return (
    <div class="warning" id="held-back">
      {pausedQueues.map((queue) => (
        <div key={queue.id}>
          <p>
            Jobs of this build wait for the queue <QueueLink queue={queue} org={request.organization.slug} />,
            which {users.get(queue.dispatchPausedById ?? "")?.name ?? "somebody"} paused{" "}
            {queue.dispatchPausedAt && <Time at={queue.dispatchPausedAt} />}.
          </p>
          <Resume queue={queue} request={request} />
        </div>
      ))}
      {withoutAgents.length > 0 && (
        <div>
          <NoAgents queues={withoutAgents} request={request} />
        </div>
      )}
      {others.map(([key, reason]) => (
        <div key={key}>
          <Cause reason={reason} request={request} />
        </div>
      ))}
    </div>
  );
}

/** True for queues that one sentence names together. */
function isAlike(reason: WaitingReason): reason is WaitingReason & { kind: "no_agent" } {
  return reason.kind === "no_agent" && reason.tags.length === 0;
}

/** Equal for jobs that one act sets free. */
function causeOf(reason: WaitingReason): string {
  const queue = "queue" in reason ? reason.queue.id : "";
  const tags = "tags" in reason ? reason.tags.join() : "";
  return [reason.kind, queue, tags].join(" ");
}

const maxWarnings = 50;

/** Members of the steps that do nothing here, or not what their author may rely on. */
export function Warnings({ warnings }: { warnings: PlacedGraph["warnings"] }) {
  if (warnings.length === 0) return null;
  const total = countWarnings(warnings);
  const more = total - maxWarnings;
  return (
    <details class="fold" id="warnings">
      <summary>
        {total === 1
          ? "One warning about the steps"
          : `${total.toLocaleString("en")} warnings about the steps`}
      </summary>
      <ul>
        {warnings.slice(0, maxWarnings).map(({ step, member, reason }) => (
          <li key={`${step} ${member} ${reason}`}>
            <code>{member}</code> {step === null ? "of the document" : `of ${step}`}
            {reason === undefined ? " has no effect" : `: ${reason}`}
          </li>
        ))}
        {more > 0 && <li>and {more.toLocaleString("en")} more</li>}
      </ul>
    </details>
  );
}

/** A link, or only the key of a deleted queue, which has no page. */
export function QueueLink({ queue, org }: { queue: Queue; org: string }) {
  if (queue.deletedAt) return <>{queue.key}</>;
  const path = pathTo(patterns.queuePage, { org, cluster: queue.clusterId, queue: queue.id });
  return <a href={path}>{queue.key}</a>;
}

/** Variables by name. Their values are in the page only if they are to be shown. */
export function Environment({
  variables,
  path,
  isShown,
}: {
  variables: Record<string, string>;
  path: string;
  isShown: boolean;
}) {
  const names = Object.keys(variables);
  return (
    <details id="environment" class="fold" open={isShown}>
      <summary>{names.length} variables</summary>
      <p class="quiet">Everybody who can read this build can read the values.</p>
      {isShown ? (
        <Values variables={variables} />
      ) : (
        <p>
          {" "}
          <CodeList names={names} />{" "}
        </p>
      )}
      <p class="actions">
        <a class="button secondary" href={isShown ? path : `${path}?${showEnvironment}#environment`}>
          {isShown ? "Hide" : "Show"} values
        </a>
      </p>
    </details>
  );
}

const showEnvironment = "environment=shown";

/** Returns true if the address asks for the values. */
export function isEnvironmentShown({ event }: Pick<MemberRequest, "event">): boolean {
  return event.url.searchParams.get("environment") === "shown";
}

function Values({ variables }: { variables: Record<string, string> }) {
  return (
    <dl class="facts">
      {Object.entries(variables).map(([name, value]) => (
        <>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}
