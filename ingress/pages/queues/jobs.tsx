import type { PlacedJob } from "../../../shared/agents/list-store.ts";
import { JobLink } from "../agents/table.tsx";
import { State, Table } from "../ui/tables.tsx";
import { durationInWords } from "../ui/times.tsx";
import type { QueueDetails } from "./load.ts";
import { maxCountedJobs } from "./words.ts";

/** The first jobs that wait for an agent of the queue, and those that its agents have. */
export function QueueJobs({ details, org, now }: { details: QueueDetails; org: string; now: Date }) {
  const { waiting, running, counts, hasConnectedAgent } = details;
  return (
    <section aria-labelledby="jobs">
      <h2 id="jobs">Jobs</h2>
      {waiting.length > 0 && !hasConnectedAgent && (
        <p class="warning">Jobs wait, and no agent of this queue is connected.</p>
      )}
      {waiting.length + running.length === 0 && <p class="empty">No job waits or runs.</p>}
      <JobTable
        caption="Running jobs"
        jobs={running}
        total={counts?.running ?? 0}
        since={({ job }) => job.startedAt ?? job.assignedAt ?? job.createdAt}
        {...{ org, now }}
      />
      <JobTable
        caption="Waiting jobs"
        jobs={waiting}
        total={counts?.waiting ?? 0}
        since={({ job }) => job.scheduledAt ?? job.createdAt}
        {...{ org, now }}
      />
    </section>
  );
}

function JobTable({
  caption,
  jobs,
  total,
  since,
  org,
  now,
}: {
  caption: string;
  jobs: PlacedJob[];
  /** Counted up to `maxCountedJobs`. */
  total: number;
  since: (placed: PlacedJob) => Date;
  org: string;
  now: Date;
}) {
  if (jobs.length === 0) return null;
  const more = total - jobs.length;
  return (
    <>
      <Table caption={caption} columns={[caption, "State", "For"]}>
        {jobs.map((placed) => (
          <tr key={placed.job.id}>
            <th scope="row" class="described">
              <JobLink placed={placed} org={org} />
              <span>{placed.build.message}</span>
            </th>
            <td>
              <State state={placed.job.state} />
            </td>
            <td class="duration">{durationInWords(since(placed), now)}</td>
          </tr>
        ))}
      </Table>
      {more > 0 && (
        <p class="quiet">
          and {more.toLocaleString("en")} {total >= maxCountedJobs ? "or more" : "more"}
        </p>
      )}
    </>
  );
}
