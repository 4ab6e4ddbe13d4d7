import type { User } from "../../../shared/accounts/user-store.ts";
import type { BuildDetails } from "../../../shared/builds/builds.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { State, Table } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";

export function PausedQueues({
  queues,
  users,
  org,
  now,
}: {
  queues: Queue[];
  users: Map<string, User>;
  org: string;
  now: Date;
}) {
  return (
    <>
      {queues.map((queue) => (
        <div class="warning" key={queue.id}>
          <p>
            Jobs of this build wait for the queue <QueueLink queue={queue} org={org} />, which{" "}
            {users.get(queue.dispatchPausedById ?? "")?.name ?? "somebody"} paused{" "}
            {queue.dispatchPausedAt && <Time at={queue.dispatchPausedAt} now={now} />}.
          </p>
          {queue.dispatchPausedNote && <p class="note">{queue.dispatchPausedNote}</p>}
        </div>
      ))}
    </>
  );
}

export function Jobs({
  details: { jobs },
  queues,
  org,
}: {
  details: BuildDetails;
  queues: Map<string, Queue>;
  org: string;
}) {
  return (
    <Table caption="Jobs" columns={["Step", "State", "Queue"]}>
      {jobs.map(({ job, queue }) => {
        const currentQueue = queues.get(queue.id);
        const isPaused = job.state === "scheduled" && Boolean(currentQueue?.dispatchPausedAt);
        return (
          <tr key={job.id} id={job.id}>
            <th scope="row" class="step">
              {job.label && <span>{job.label}</span>}
              <code>{job.command}</code>
            </th>
            <td>
              <State state={job.state} isPaused={isPaused} />
              {job.exitStatus !== null && job.exitStatus !== 0 && (
                <span class="quiet"> exit status {job.exitStatus}</span>
              )}
            </td>
            <td>
              <span class="long">
                {currentQueue ? <QueueLink queue={currentQueue} org={org} /> : queue.key}
              </span>
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

/** A link, or only the key of a deleted queue, which has no page. */
function QueueLink({ queue, org }: { queue: Queue; org: string }) {
  if (queue.deletedAt) return <>{queue.key}</>;
  const path = pathTo(patterns.queuePage, { org, cluster: queue.clusterId, queue: queue.id });
  return <a href={path}>{queue.key}</a>;
}

export function Environment({ variables }: { variables: Record<string, string> }) {
  const entries = Object.entries(variables);
  return (
    <details id="environment" class="fold">
      <summary>{entries.length} variables</summary>
      <dl class="facts">
        {entries.map(([name, value]) => (
          <>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
    </details>
  );
}
