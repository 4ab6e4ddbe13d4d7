import type { ListedJob, RetriedJob } from "../../../shared/builds/job-list-store.ts";
import type { Job } from "../../../shared/builds/job-store.ts";
import { mayBeRetried } from "../../../shared/builds/retry.ts";
import { patterns } from "../../../shared/paths.ts";
import { unfinishedJobStates } from "../../../shared/vocabulary.ts";
import { agentPath } from "../address/agent.ts";
import { jobPath } from "../address/build.ts";
import { PostButton } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { useNow } from "../ui/rendering.ts";
import { State } from "../ui/tables.tsx";
import { ExactTime, Unfolding } from "../ui/times.tsx";
import { TimesOfJob } from "./headline.tsx";
import type { LoadedBuild } from "./load.ts";
import { QueueLink } from "./sections.tsx";
import { Axis, Bar, type Timeline, timelineOf } from "./timeline.tsx";

interface JobsProps {
  data: LoadedBuild;
  request: MemberRequest;
}

const maxCommandLines = 3;

/** The jobs of a build in the order of its steps, with bars that share a timeline. */
export function Jobs(props: JobsProps) {
  const { list, build } = props.data;
  const timeline = timelineOf(
    list.rows.map(({ job }) => job),
    build.createdAt,
    useNow(),
  );
  return (
    <ol class="jobs" aria-labelledby="jobs">
      {timeline && (
        <li class="scale" aria-hidden="true">
          <Axis timeline={timeline} />
        </li>
      )}
      {list.rows.map((each) =>
        each.job.type === "waiter" ? (
          <Wait key={each.job.id} job={each.job} />
        ) : (
          <Row key={each.job.id} each={each} timeline={timeline} {...props} />
        ),
      )}
    </ol>
  );
}

function Wait({ job: { id, state } }: { job: Job }) {
  const text = { passed: "Waited", waiting_failed: "Not reached: an earlier job failed" }[state as string];
  return (
    <li class="separator" id={id}>
      {text ?? "Wait until the jobs above have passed"}
    </li>
  );
}

function Row({
  each: { job, queue },
  timeline,
  data: { queues, agents, earlier },
  request,
}: JobsProps & { each: ListedJob; timeline: Timeline | undefined }) {
  const org = request.organization.slug;
  const currentQueue = queue ? queues.get(queue.id) : undefined;
  const isPaused = job.state === "scheduled" && Boolean(currentQueue?.dispatchPausedAt);
  const agent = agents.get(job.agentId ?? "");
  return (
    <li id={job.id}>
      <div class="step">
        <a href={jobPath(request, job.id)}>{titleOf(job)}</a>
        <Parallel job={job} />
        <Command job={job} />
        <Earlier jobs={earlier.get(job.position) ?? []} job={job} request={request} />
      </div>
      <div class="result">
        <State state={job.state} isPaused={isPaused} />
        <Failure job={job} />
      </div>
      <p class="place">
        {currentQueue ? <QueueLink queue={currentQueue} org={org} /> : queue?.key}
        {agent && (
          <>
            {" · "}
            <a href={agentPath(org, agent)}>{agent.name}</a>
          </>
        )}
      </p>
      <div class="time">
        {timeline && <Bar job={job} timeline={timeline} />}
        {job.scheduledAt && (
          <Unfolding id={`times-${job.id}`} text={<TimesOfJob job={job} />}>
            <ExactTimes job={job} />
          </Unfolding>
        )}
      </div>
      <Buttons job={job} request={request} />
    </li>
  );
}

function titleOf({ label, command }: Job): string {
  return label ?? (command?.split("\n")[0] || "Job");
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

/** The first lines. The job's page has all of them. */
function Command({ job }: { job: Job }) {
  const { command } = job;
  if (!command || command === titleOf(job)) return null;
  return <code>{command.split("\n").slice(0, maxCommandLines).join("\n")}</code>;
}

function Failure({
  job: { exitStatus, softFailed, failureReason },
}: {
  job: Pick<Job, "exitStatus" | "softFailed" | "failureReason">;
}) {
  return (
    <>
      {exitStatus !== null && exitStatus !== 0 && <span class="quiet"> exit status {exitStatus}</span>}
      {softFailed && <span class="quiet"> (soft)</span>}
      {failureReason && <span class="reason">{failureReason}</span>}
    </>
  );
}

function ExactTimes({ job: { scheduledAt, startedAt, finishedAt } }: { job: Job }) {
  const times = { Scheduled: scheduledAt, Started: startedAt, Finished: finishedAt };
  return (
    <dl class="exact-times">
      {Object.entries(times).map(
        ([name, at]) =>
          at && (
            <>
              <dt>{name}</dt>
              <dd>
                <ExactTime at={at} />
              </dd>
            </>
          ),
      )}
    </dl>
  );
}

/** The jobs that a job retries, the latest first. */
function Earlier({ jobs, job, request }: { jobs: RetriedJob[]; job: Job; request: MemberRequest }) {
  const { retriesCount } = job;
  if (retriesCount === 0) return null;
  return (
    <details class="earlier" id={`earlier-${job.id}`}>
      <summary>
        {retriesCount} earlier {retriesCount === 1 ? "attempt" : "attempts"}
      </summary>
      <ul>
        {jobs.map((each) => (
          <li key={each.id} id={each.id}>
            <a href={jobPath(request, each.id)}>
              {each.retryOfJobId ? `Retry ${each.retriesCount}` : "First"}
            </a>{" "}
            <State state={each.state} />
            <Failure job={each} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Cancel or retry, as far as the job's state allows. */
export function Buttons({ job, request }: { job: Job; request: MemberRequest }) {
  const name = <span class="hidden"> {titleOf(job)}</span>;
  const isCancelable = unfinishedJobStates.includes(job.state) && job.state !== "canceling";
  return (
    <div class="actions">
      {isCancelable && (
        <PostButton path={jobPath(request, job.id, patterns.cancelJobPage)} class="danger">
          Cancel{name}
        </PostButton>
      )}
      {mayBeRetried(job) && (
        <PostButton path={jobPath(request, job.id, patterns.retryJobPage)} class="secondary">
          Retry{name}
        </PostButton>
      )}
    </div>
  );
}
