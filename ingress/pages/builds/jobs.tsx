import type { Agent } from "../../../shared/agents/store.ts";
import type { BuildDetails } from "../../../shared/builds/builds.ts";
import { mayBeRetried } from "../../../shared/builds/retry.ts";
import type { Job } from "../../../shared/builds/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { unfinishedJobStates } from "../../../shared/vocabulary.ts";
import { agentPath } from "../agents/load.ts";
import { PostButton } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { State, Table } from "../ui/tables.tsx";
import { durationInWords } from "../ui/times.tsx";
import { QueueLink } from "./sections.tsx";

interface JobsProps {
  details: BuildDetails;
  queues: Map<string, Queue>;
  agents: Map<string, Agent>;
  request: MemberRequest;
  now: Date;
}

type BuildJob = BuildDetails["jobs"][number];

const columns = ["Step", "State", "Queue", "Agent", "Time", "Actions"];

/** The jobs of a build in the order of its steps. A retried job is folded under its successor. */
export function Jobs(props: JobsProps) {
  const { jobs } = props.details;
  const byId = new Map(jobs.map(({ job }) => [job.id, job]));
  const shown = jobs.filter(({ job }) => job.retriedInJobId === null || !byId.has(job.retriedInJobId));
  return (
    <Table caption="Jobs" columns={columns}>
      {shown.map((each) =>
        each.job.type === "waiter" ? (
          <Wait key={each.job.id} job={each.job} />
        ) : (
          <Row key={each.job.id} each={each} earlier={predecessors(each.job, byId)} {...props} />
        ),
      )}
    </Table>
  );
}

/** The jobs that a job retries, the latest first. */
function predecessors({ retryOfJobId }: Job, byId: Map<string, Job>): Job[] {
  const former = byId.get(retryOfJobId ?? "");
  return former ? [former, ...predecessors(former, byId)] : [];
}

function Wait({ job: { id, state } }: { job: Job }) {
  const text = { passed: "Waited", waiting_failed: "Not reached: an earlier job failed" }[state as string];
  return (
    <tr class="separator" id={id}>
      <td colSpan={columns.length}>{text ?? "Wait until the jobs above have passed"}</td>
    </tr>
  );
}

function Row({
  each: { job, queue },
  earlier,
  queues,
  agents,
  request,
  now,
}: JobsProps & { each: BuildJob; earlier: Job[] }) {
  const org = request.organization.slug;
  const currentQueue = queue ? queues.get(queue.id) : undefined;
  const isPaused = job.state === "scheduled" && Boolean(currentQueue?.dispatchPausedAt);
  const agent = agents.get(job.agentId ?? "");
  return (
    <tr id={job.id}>
      <th scope="row" class="step">
        <a href={jobPath(request, job.id)}>{job.label ?? firstLine(job)}</a>
        <Parallel job={job} />
        {(job.label !== null || firstLine(job) !== job.command) && <code>{job.command}</code>}
        <Earlier jobs={earlier} request={request} />
      </th>
      <td>
        <State state={job.state} isPaused={isPaused} />
        <Failure job={job} />
      </td>
      <td>
        <span class="long">{currentQueue ? <QueueLink queue={currentQueue} org={org} /> : queue?.key}</span>
      </td>
      <td>
        {agent && (
          <a class="long" href={agentPath(org, agent)}>
            {agent.name}
          </a>
        )}
      </td>
      <td class="duration">{timeOf(job, now)}</td>
      <td>
        <Buttons job={job} request={request} />
      </td>
    </tr>
  );
}

function firstLine({ command }: Job): string {
  return command?.split("\n")[0] || "Job";
}

function Parallel({ job: { options } }: { job: Job }) {
  if (!options?.parallel) return null;
  return (
    <>
      {" "}
      <span class="tag">
        {options.parallel.index + 1} of {options.parallel.total}
      </span>
    </>
  );
}

function Failure({ job: { exitStatus, softFailed, failureReason } }: { job: Job }) {
  return (
    <>
      {exitStatus !== null && exitStatus !== 0 && <span class="quiet"> exit status {exitStatus}</span>}
      {softFailed && <span class="quiet"> (soft)</span>}
      {failureReason && <span class="reason">{failureReason}</span>}
    </>
  );
}

function Earlier({ jobs, request }: { jobs: Job[]; request: MemberRequest }) {
  const [latest] = jobs;
  if (!latest) return null;
  return (
    <details class="earlier" id={`earlier-${latest.id}`}>
      <summary>
        {jobs.length} earlier {jobs.length === 1 ? "attempt" : "attempts"}
      </summary>
      <ul>
        {jobs.map((job) => (
          <li key={job.id} id={job.id}>
            <a href={jobPath(request, job.id)}>{job.retryOfJobId ? `Retry ${job.retriesCount}` : "First"}</a>{" "}
            <State state={job.state} />
            <Failure job={job} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** How long it waits, runs or ran. */
function timeOf({ state, scheduledAt, startedAt, finishedAt }: Job, now: Date): string {
  if (startedAt) return durationInWords(startedAt, finishedAt ?? now);
  return state === "scheduled" && scheduledAt ? `waits ${durationInWords(scheduledAt, now)}` : "";
}

/** Cancel or retry, as far as the job's state allows. */
export function Buttons({ job, request }: { job: Job; request: MemberRequest }) {
  const { visitor } = request;
  const name = <span class="hidden"> {job.label ?? firstLine(job)}</span>;
  const isCancelable = unfinishedJobStates.includes(job.state) && job.state !== "canceling";
  return (
    <div class="actions">
      {isCancelable && (
        <PostButton visitor={visitor} path={jobPath(request, job.id, patterns.cancelJobPage)} class="danger">
          Cancel{name}
        </PostButton>
      )}
      {mayBeRetried(job) && (
        <PostButton
          visitor={visitor}
          path={jobPath(request, job.id, patterns.retryJobPage)}
          class="secondary"
        >
          Retry{name}
        </PostButton>
      )}
    </div>
  );
}

export function jobPath(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  job: string,
  pattern:
    | typeof patterns.jobPage
    | typeof patterns.cancelJobPage
    | typeof patterns.retryJobPage = patterns.jobPage,
): string {
  return pathTo(pattern, {
    ...{ org: organization.slug, slug: parameter("slug"), number: parameter("number"), job },
  });
}
