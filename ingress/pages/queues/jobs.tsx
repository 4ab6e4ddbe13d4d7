import type { JobWithOwners } from "../../../shared/agents/list-store.ts";
import type { WaitingReason } from "../../../shared/agents/waiting/reason.ts";
import { durationInWords } from "../../../shared/durations.ts";
import { type CursorNames, linkIdPages } from "../../http/cursor-pager.ts";
import { queuePath } from "../address/queue.ts";
import { JobLink } from "../agents/table.tsx";
import { firstLine } from "../builds/list.tsx";
import { WaitsInQueue } from "../job-facts/waiting.tsx";
import { State } from "../states/state.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { CursorPager } from "../ui/pager.tsx";
import { useNow } from "../ui/rendering.ts";
import { Table } from "../ui/tables.tsx";
import { type JobsPage, jobCursors, type QueueDetails } from "./load.ts";

/** Jobs that wait for an agent of the queue, and those that its agents have. */
export function QueueJobs({ request, details }: { request: MemberRequest; details: QueueDetails }) {
  const now = useNow();
  const { queue, waiting, running, reasons } = details;
  const hasNoAgent = waiting.rows.some(({ job }) => reasons.get(job.id)?.kind === "no_agent");
  const table = { org: request.organization.slug, path: queuePath(request, queue), now };
  return (
    <section aria-labelledby="jobs">
      <h2 id="jobs">Jobs</h2>
      {hasNoAgent && (
        <p class="warning">
          Jobs wait, and no agent of this queue is connected. <a href="#agents">Start one</a>
        </p>
      )}
      {waiting.rows.length + running.rows.length === 0 && <p class="empty">No job waits or runs.</p>}
      <JobTable
        caption="Running jobs"
        page={running}
        cursors={jobCursors.running}
        since={({ job }) => job.startedAt ?? job.assignedAt ?? job.scheduledAt ?? job.createdAt}
        request={request}
        {...table}
      />
      <JobTable
        caption="Waiting jobs"
        page={waiting}
        cursors={jobCursors.waiting}
        since={({ job }) => job.scheduledAt ?? job.createdAt}
        reasons={reasons}
        request={request}
        {...table}
      />
    </section>
  );
}

function JobTable({
  caption,
  page,
  cursors,
  since,
  reasons,
  request,
  org,
  path,
}: {
  caption: string;
  page: JobsPage;
  cursors: CursorNames;
  since: (placed: JobWithOwners) => Date;
  reasons?: QueueDetails["reasons"];
  request: MemberRequest;
  org: string;
  /** The path of the queue. */
  path: string;
}) {
  const now = useNow();
  if (page.rows.length === 0) return null;
  const { older, newer } = linkIdPages(path, cursors, page);
  return (
    <>
      <Table caption={caption} columns={[caption, "State", "For"]} isList>
        {page.rows.map((placed) => (
          <tr key={placed.job.id}>
            <th scope="row" class="described">
              <JobLink placed={placed} org={org} />
              <span>{firstLine(placed.build.message)}</span>
            </th>
            <td>
              <State state={placed.job.state} />
              <Reason reason={reasons?.get(placed.job.id)} request={request} />
            </td>
            <td class="duration">{durationInWords(since(placed), now)}</td>
          </tr>
        ))}
      </Table>
      <CursorPager label={`Pages of ${caption.toLowerCase()}`} links={{ Older: older, Newer: newer }} />
    </>
  );
}

function Reason({ reason, request }: { reason: WaitingReason | undefined; request: MemberRequest }) {
  if (!reason || reason.kind === "steps") return null;
  return (
    <span class="reason">
      <WaitsInQueue reason={reason} request={request} />
    </span>
  );
}
