import type { User } from "../../../shared/accounts/user-store.ts";
import type { PlacedGraph } from "../../../shared/builds/rows/graph-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { countWarnings } from "../../../shared/pipelines/warnings.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { CodeList } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";

export function PausedQueues({
  queues,
  users,
  org,
}: {
  queues: Queue[];
  users: Map<string, User>;
  org: string;
}) {
  return (
    <>
      {queues.map((queue) => (
        <div class="warning" key={queue.id}>
          <p>
            Jobs of this build wait for the queue <QueueLink queue={queue} org={org} />, which{" "}
            {users.get(queue.dispatchPausedById ?? "")?.name ?? "somebody"} paused{" "}
            {queue.dispatchPausedAt && <Time at={queue.dispatchPausedAt} />}.
          </p>
          {queue.dispatchPausedNote && <p class="note">{queue.dispatchPausedNote}</p>}
        </div>
      ))}
    </>
  );
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
