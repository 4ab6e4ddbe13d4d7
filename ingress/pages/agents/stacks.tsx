import { countReserved } from "../../../shared/agents/stacks/job-store.ts";
import { listStacksPage, type StackFilter } from "../../../shared/agents/stacks/store.ts";
import { listQueuesById } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { State } from "../states/state.tsx";
import { Table } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";

const perPage = 50;
const maxCountedReserved = 1000;

export type LoadedStacks = Awaited<ReturnType<typeof loadStacks>>;

/** The stacks of a cluster, with their queues and how many jobs they have reserved. */
export async function loadStacks({ db }: Services, filter: StackFilter) {
  const { rows, next } = await listStacksPage(db, filter, { limit: perPage, offset: 0 });
  return {
    rows,
    next,
    queues: await listQueuesById(
      db,
      rows.map(({ queueId }) => queueId),
    ),
    reserved: await countReserved(
      db,
      rows.map(({ id }) => id),
      maxCountedReserved + 1,
    ),
  };
}

/** Schedulers that start agents for jobs, such as the controller of a Kubernetes cluster. Most clusters have none. */
export function Stacks({ stacks: { rows, next, queues, reserved } }: { stacks: LoadedStacks }) {
  if (rows.length === 0) return null;
  const inWords = (count: number) => (count > maxCountedReserved ? `${maxCountedReserved}+` : count);
  return (
    <section aria-labelledby="stacks">
      <h2 id="stacks">Stacks</h2>
      <Table caption="Stacks" columns={["Stack", "State", "Queue", "Reserved jobs", "Last seen"]} isList>
        {rows.map(({ id, key, type, lostAt, queueId, metadata, seenAt }) => (
          <tr key={id}>
            <th scope="row" class="described">
              {key}
              <span class="quiet">{type}</span>
              {Object.entries(metadata)
                .slice(0, 10)
                .map(([name, value]) => (
                  <code key={name} class="agent-tag">
                    {name}={value}
                  </code>
                ))}
            </th>
            <td>
              <State state={lostAt ? "lost" : "connected"} kind={lostAt ? "lost" : "active"} />
            </td>
            <td data-label="Queue">
              <span class="long">{queues.get(queueId)?.key}</span>
            </td>
            <td data-label="Reserved jobs">{inWords(reserved.get(id) ?? 0)}</td>
            <td data-label="Last seen">
              <Time at={seenAt} />
            </td>
          </tr>
        ))}
      </Table>
      {next && <p class="quiet">and more</p>}
    </section>
  );
}
