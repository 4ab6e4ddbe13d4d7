import { isWaitingAgain, type WaitingReason } from "../../../shared/agents/waiting/reason.ts";
import type { ListedJob, RetriedJob } from "../../../shared/builds/reading/job-list-store.ts";
import { placeInWords, titleOf } from "../../../shared/builds/reading/titles.ts";
import { mayBeRetried } from "../../../shared/builds/retry.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { patterns } from "../../../shared/paths.ts";
import { type JobState, unfinishedJobStates } from "../../../shared/vocabulary.ts";
import { agentPath } from "../address/agent.ts";
import { jobPath } from "../address/build.ts";
import { Triggered } from "../job-facts/triggered.tsx";
import { WaitsFor } from "../job-facts/waiting.tsx";
import { brokenInWords } from "../states/kinds.ts";
import { State } from "../states/state.tsx";
import { PostButton } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { useNow } from "../ui/rendering.ts";
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
/** The page says above what holds back all jobs of a queue. Many jobs only wait for their turn. */
const saidElsewhere: WaitingReason["kind"][] = ["queue_paused", "no_agent", "agents_busy"];

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
          <Wait key={each.job.id} job={each.job} {...props} />
        ) : each.job.type === "manual" ? (
          <Manual key={each.job.id} job={each.job} {...props} />
        ) : (
          <Row key={each.job.id} each={each} timeline={timeline} {...props} />
        ),
      )}
    </ol>
  );
}

const waitWords: Partial<Record<JobState, string>> = {
  passed: "Waited",
  waiting_failed: "Not reached: an earlier job failed",
  canceled: "Canceled",
};

function Wait({ job, data: { build, reasons, blocking }, request }: { job: Job } & JobsProps) {
  const reason = build.hasGraph ? reasons.get(job.id) : undefined;
  return (
    <li class="separator" id={job.id}>
      {waitWords[job.state] ??
        brokenInWords(job) ??
        (reason && <WaitsFor reason={reason} jobs={blocking} request={request} />) ??
        "Wait until the jobs above have passed"}
      <Tags job={job} />
    </li>
  );
}

const manualWords: Partial<Record<JobState, string>> = {
  blocked_failed: "Not reached: an earlier job failed",
  canceled: "Canceled",
};

/** A block or an input. */
function Manual({ job, data, request }: { job: Job } & JobsProps) {
  const { users, reasons, blocking } = data;
  const { state, unblockable, unblockedAt, unblockedById } = job;
  const reason = reasons.get(job.id);
  return (
    <li class="separator" id={job.id}>
      {titleOf(job)} <State state={state} />{" "}
      {unblockable && <LinkToForm id={job.id} forms={data.unblockable} />}
      {unblockedAt && (
        <span class="quiet">
          by {users.get(unblockedById ?? "")?.name ?? "somebody"} <ExactTime at={unblockedAt} />
        </span>
      )}
      {manualWords[state] ??
        brokenInWords(job) ??
        (reason && <WaitsFor reason={reason} jobs={blocking} request={request} />)}
      <Tags job={job} />
    </li>
  );
}

/** @param forms the jobs whose forms the page has */
function LinkToForm({ id, forms }: { id: string; forms: Job[] }) {
  if (!forms.some((job) => job.id === id)) return <>Waits for people</>;
  return <a href={`#unblock-${id}`}>Waits for people</a>;
}

function Row({
  each: { job, queue },
  timeline,
  data: { queues, agents, earlier, reasons, blocking, triggered },
  request,
}: JobsProps & { each: ListedJob; timeline: Timeline | undefined }) {
  const org = request.organization.slug;
  const currentQueue = queue ? queues.get(queue.id) : undefined;
  const isPaused = job.state === "scheduled" && Boolean(currentQueue?.dispatchPausedAt);
  const agent = agents.get(job.agentId ?? "");
  const reason = reasons.get(job.id);
  const isNews = reason && !saidElsewhere.includes(reason.kind);
  return (
    <li id={job.id}>
      <div class="step">
        <a href={jobPath(request, job.id)}>{titleOf(job)}</a>
        <Tags job={job} />
        <Command job={job} />
        <Earlier jobs={earlier.get(job.position) ?? []} job={job} request={request} />
      </div>
      <div class="result">
        <State state={job.state} isPaused={isPaused} />
        <Failure job={job} />
        {isNews && (
          <span class="reason">
            <WaitsFor reason={reason} jobs={blocking} request={request} />
          </span>
        )}
      </div>
      <p class="place">
        {job.type === "trigger" && (job.label !== null || triggered.has(job.id)) && (
          <Triggered job={job} build={triggered.get(job.id)} request={request} />
        )}
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

/** Its group, and its place among the jobs of its step. */
function Tags({ job }: { job: Job }) {
  const group = job.options?.group;
  return [group && (group.label ?? group.key ?? "Group"), placeInWords(job)].map(
    (text) =>
      text && (
        <>
          {" "}
          <span class="tag">{text}</span>
        </>
      ),
  );
}

/** The first lines. The job's page has all of them. */
function Command({ job }: { job: Job }) {
  const { command } = job;
  if (!command || command === titleOf(job)) return null;
  return <code>{command.split("\n").slice(0, maxCommandLines).join("\n")}</code>;
}

function Failure({ job }: { job: RetriedJob | Job }) {
  const { exitStatus, softFailed, failureReason } = job;
  const broken = "brokenReason" in job ? brokenInWords(job) : undefined;
  const isLost = "attempt" in job && isWaitingAgain(job);
  return (
    <>
      {exitStatus !== null && exitStatus !== 0 && <span class="quiet"> exit status {exitStatus}</span>}
      {softFailed && <span class="quiet"> (soft)</span>}
      {failureReason && <span class="reason">{failureReason}</span>}
      {broken && <span class="reason">{broken}</span>}
      {isLost && <span class="reason">Lost by its agent, waiting again</span>}
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
