import { type ComponentChildren, Fragment } from "preact";
import { isWaitingAgain } from "../../../shared/agents/waiting/reason.ts";
import type { ListedJob, RetriedJob } from "../../../shared/builds/reading/job-list-store.ts";
import { placeBesideTitle, titleOf } from "../../../shared/builds/reading/titles.ts";
import { mayBeRetried } from "../../../shared/builds/retry.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { workMsOfJobs } from "../../../shared/builds/rows/work.ts";
import { msInWords } from "../../../shared/durations.ts";
import { patterns } from "../../../shared/paths.ts";
import { type JobState, unfinishedJobStates } from "../../../shared/vocabulary.ts";
import { jobPath } from "../address/build.ts";
import { needsPeople } from "../job-facts/remedy.tsx";
import { RowButton, RowForm } from "../job-facts/row-button.tsx";
import { Triggered } from "../job-facts/triggered.tsx";
import { WaitsFor } from "../job-facts/waiting.tsx";
import { brokenInWords, kindOf } from "../states/kinds.ts";
import { State, StateIcon, stateInWords } from "../states/state.tsx";
import { PostButton } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { useNow } from "../ui/rendering.ts";
import { separator } from "../ui/tables.tsx";
import { Duration, ExactTime } from "../ui/times.tsx";
import { foldPassed, type JobItem } from "./folds.ts";
import { isFiltered } from "./job-filter.tsx";
import type { LoadedBuild } from "./load.ts";
import { Axis, Bar, type Timeline, timelineOf } from "./timeline.tsx";

interface JobsProps {
  data: LoadedBuild;
  request: MemberRequest;
}

/** The jobs of a build in the order of its steps, with bars that share a timeline. */
export function Jobs(props: JobsProps) {
  const { list, build, filter } = props.data;
  const timeline = timelineOf(
    list.rows.map(({ job }) => job),
    build.createdAt,
    useNow(),
  );
  const items = isFiltered(filter) ? list.rows : foldPassed(list.rows);
  const span = timeline ? ` span-${timeline.span}` : "";
  return (
    <>
      <RowForm />
      {list.rows.length === 0 && <p class="empty">No job of this build matches the filter.</p>}
      <ol class={`jobs${span}`} aria-labelledby="jobs" data-blocks="jobs">
        {timeline && (
          <li class="scale" aria-hidden="true">
            <Axis timeline={timeline} />
          </li>
        )}
        {items.map((item) =>
          "jobs" in item ? (
            <Fold key={item.id} {...item} timeline={timeline} props={props} />
          ) : (
            <Item key={item.job.id} each={item} timeline={timeline} {...props} />
          ),
        )}
      </ol>
    </>
  );
}

function Item({ each, timeline, ...props }: JobsProps & { each: ListedJob; timeline: Timeline | undefined }) {
  const { job } = each;
  if (job.type === "waiter") return <Wait job={job} {...props} />;
  if (job.type === "manual") return <Manual job={job} {...props} />;
  return <Row each={each} timeline={timeline} {...props} />;
}

/** Jobs that all passed, in one row that unfolds. */
function Fold({
  id,
  title,
  jobs,
  timeline,
  props,
}: Exclude<JobItem, ListedJob> & { timeline: Timeline | undefined; props: JobsProps }) {
  const ranMs = workMsOfJobs(jobs.map(({ job }) => job));
  const { scheduledAt, startedAt, finishedAt } = wholeTimeOf(jobs.map(({ job }) => job));
  return (
    <li class="folded passed" data-blocks={`fold-${id}`}>
      <details id={`fold-${id}`} data-blocks="details">
        <summary data-part="">
          <StateIcon state="passed" />
          <span class="what">
            <strong>{title}</strong> <span class="quiet">{jobs.length} jobs passed</span>
          </span>
          <span class="track">
            {timeline && (
              <Bar job={{ state: "passed", scheduledAt, startedAt, finishedAt }} timeline={timeline} />
            )}
          </span>
          <span class="took">{ranMs !== undefined && msInWords(ranMs)}</span>
        </summary>
        <ol data-blocks="jobs">
          {jobs.map((each) => (
            <Item key={each.job.id} each={each} timeline={timeline} {...props} />
          ))}
        </ol>
      </details>
    </li>
  );
}

/** From the first of the jobs to the last. */
function wholeTimeOf(jobs: Job[]) {
  const timesOf = (name: "scheduledAt" | "startedAt" | "finishedAt") =>
    jobs.flatMap((job) => job[name]?.getTime() ?? []);
  const [scheduled, started, finished] = [
    timesOf("scheduledAt"),
    timesOf("startedAt"),
    timesOf("finishedAt"),
  ];
  const date = (times: number[], choose: typeof Math.min) =>
    times.length > 0 ? new Date(choose(...times)) : null;
  return {
    scheduledAt: date(scheduled, Math.min),
    startedAt: date(started, Math.min),
    finishedAt: date(finished, Math.max),
  };
}

const waitWords: Partial<Record<JobState, string>> = {
  passed: "Waited",
  waiting_failed: "Not reached: an earlier job failed",
  canceled: "Canceled",
};

function Wait({ job, data: { build, reasons, blocking }, request }: { job: Job } & JobsProps) {
  const reason = build.hasGraph ? reasons.get(job.id) : undefined;
  return (
    <li data-part="" class="separator" id={job.id}>
      <Separated
        parts={[
          waitWords[job.state] ??
            brokenInWords(job) ??
            (reason && <WaitsFor reason={reason} jobs={blocking} request={request} />) ??
            "Wait until the jobs above have passed",
          ...tagsOf(job),
        ]}
      />
    </li>
  );
}

const manualWords: Partial<Record<JobState, string>> = {
  blocked_failed: "Not reached: an earlier job failed",
};

/** A block or an input. */
function Manual({ job, data, request }: { job: Job } & JobsProps) {
  const { users, reasons, blocking } = data;
  const { state, unblockable, unblockedAt, unblockedById } = job;
  const reason = reasons.get(job.id);
  return (
    <li data-part="" class="separator" id={job.id}>
      <StateIcon state={state} />{" "}
      <Separated
        parts={[
          titleOf(job),
          <>
            {stateInWords(state)}
            {unblockedAt && (
              <>
                {" "}
                by {users.get(unblockedById ?? "")?.name ?? "somebody"} <ExactTime at={unblockedAt} />
              </>
            )}
          </>,
          unblockable && <LinkToForm id={job.id} forms={data.unblockable} />,
          manualWords[state] ??
            brokenInWords(job) ??
            (reason && <WaitsFor reason={reason} jobs={blocking} request={request} />),
          ...tagsOf(job),
        ]}
      />
    </li>
  );
}

/** Facts with separators between them. */
function Separated({ parts }: { parts: ComponentChildren[] }) {
  return parts.filter(Boolean).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && separator}
      {part}
    </Fragment>
  ));
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
  const currentQueue = queue ? queues.get(queue.id) : undefined;
  const isPaused = job.state === "scheduled" && Boolean(currentQueue?.dispatchPausedAt);
  const reason = reasons.get(job.id);
  // The page says above what holds back all jobs of a queue, and many jobs only wait for their turn.
  const isNews = reason && !needsPeople(reason) && reason.kind !== "agents_busy";
  const place = [queue?.key, agents.get(job.agentId ?? "")?.name].filter(Boolean).join(separator);
  return (
    <li data-part="" id={job.id} class={isPaused ? "paused" : kindOf(job)}>
      <StateIcon state={kindOf(job)} />
      <span class="what">
        <a href={jobPath(request, job.id)}>{titleOf(job)}</a>
        <span class="hidden">{isPaused ? " paused" : ` ${stateInWords(job.state)}`}</span>
        <Tags job={job} />
        {job.type === "trigger" && (job.label !== null || triggered.has(job.id)) && (
          <span>
            {separator}
            <Triggered job={job} build={triggered.get(job.id)} request={request} />
          </span>
        )}
        <Failure job={job} />
        {isNews && (
          <span class="reason">
            {" "}
            <WaitsFor reason={reason} jobs={blocking} request={request} />
          </span>
        )}
        <Earlier jobs={earlier.get(job.position) ?? []} job={job} request={request} />
      </span>
      <span class="place">{place}</span>
      <span class="track">{timeline && <Bar job={job} timeline={timeline} />}</span>
      <span class="took">
        <Took job={job} />
      </span>
      <RowButtons job={job} request={request} />
    </li>
  );
}

/** The time that it ran, or waits for an agent. */
function Took({ job: { scheduledAt, startedAt, finishedAt } }: { job: Job }) {
  if (startedAt) return <Duration from={startedAt} to={finishedAt} />;
  if (!scheduledAt || finishedAt) return null;
  return (
    <span class="quiet">
      waits <Duration from={scheduledAt} to={null} />
    </span>
  );
}

/** Its group, and its place among the jobs of its step. */
function tagsOf(job: Job): string[] {
  const group = job.options?.group;
  return [group && (group.label ?? group.key ?? "Group"), placeBesideTitle(job)].flatMap(
    (text) => text || [],
  );
}

function Tags({ job }: { job: Job }) {
  return tagsOf(job).map((text) => (
    <>
      {" "}
      <span class="quiet">{text}</span>
    </>
  ));
}

function Failure({ job }: { job: RetriedJob | Job }) {
  const { exitStatus, softFailed, failureReason } = job;
  const broken = "brokenReason" in job ? brokenInWords(job) : undefined;
  const isLost = "attempt" in job && isWaitingAgain(job);
  return (
    <>
      {exitStatus !== null && exitStatus !== 0 && <span class="quiet"> exit status {exitStatus}</span>}
      {softFailed && <span class="quiet"> (soft)</span>}
      {failureReason && <span class="reason"> {failureReason}</span>}
      {broken && <span class="reason"> {broken}</span>}
      {isLost && <span class="reason"> Lost by its agent, waiting again</span>}
    </>
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
            <State state={each.state} kind={kindOf(each)} />
            <Failure job={each} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Of buttons that retry. */
export const retryHint = "Runs the steps of this build. Edited steps need a new build";

/** Cancel and retry, as far as the job's state allows. */
export function Buttons({ job, request }: { job: Job; request: MemberRequest }) {
  const name = <span class="hidden"> {titleOf(job)}</span>;
  return (
    <div class="actions">
      {isCancelable(job) && (
        <PostButton path={jobPath(request, job.id, patterns.cancelJobPage)} class="danger">
          Cancel{name}
        </PostButton>
      )}
      {mayBeRetried(job) && (
        <PostButton
          path={jobPath(request, job.id, patterns.retryJobPage)}
          class="secondary"
          title={retryHint}
        >
          Retry{name}
        </PostButton>
      )}
    </div>
  );
}

function isCancelable({ state }: Job): boolean {
  return unfinishedJobStates.includes(state) && state !== "canceling";
}

function RowButtons({ job, request }: { job: Job; request: MemberRequest }) {
  const shared = { job, request };
  return (
    <span class="act">
      {isCancelable(job) && (
        <RowButton {...shared} pattern={patterns.cancelJobPage} class="danger">
          Cancel
        </RowButton>
      )}
      {mayBeRetried(job) && (
        <RowButton {...shared} pattern={patterns.retryJobPage} class="secondary">
          Retry
        </RowButton>
      )}
    </span>
  );
}
