import { placeInWords, titleOf } from "../../../shared/builds/reading/titles.ts";
import { patterns } from "../../../shared/paths.ts";
import { timeoutMinutes } from "../../../shared/pipelines/settings.ts";
import { sizeInWords } from "../../../shared/refusal.ts";
import { agentPath } from "../address/agent.ts";
import { buildPath, jobPath } from "../address/build.ts";
import { TimesOfJob } from "../builds/headline.tsx";
import { Buttons } from "../builds/jobs.tsx";
import { QueueLink } from "../builds/sections.tsx";
import { StepsSource, type StepsSources } from "../commits/steps-source.tsx";
import { Triggered } from "../job-facts/triggered.tsx";
import { brokenInWords, kindOf } from "../states/kinds.ts";
import { State, stateInWords } from "../states/state.tsx";
import { MoreMenu } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { countInWords } from "../ui/pager.tsx";
import { Fact, separator } from "../ui/tables.tsx";
import { Duration, ExactTime } from "../ui/times.tsx";
import type { LoadedJob, loadPlace, Run } from "./load.ts";
import { rawLogPath } from "./log.tsx";

type Place = Awaited<ReturnType<typeof loadPlace>>;

interface HeadProps {
  loaded: LoadedJob;
  place: Place;
  runs: Run[];
  request: MemberRequest;
  /** Names of variables. */
  unsent: string[];
  /** Of a job that failed. */
  sources: StepsSources;
}

/** One line: the state, where it ran, its runs, and what one can do. */
export function Head(props: HeadProps) {
  const { loaded, request } = props;
  const { job } = loaded;
  return (
    <div class="heading job-head" id="job-head">
      <h1>
        {titleOf(job)} <State state={job.state} kind={kindOf(job)} />
      </h1>
      <Summary {...props} />
      <Runs {...props} />
      <Buttons job={job} request={request} />
      <StepsSource sources={props.sources} request={request} />
      <More {...props} />
    </div>
  );
}

/** `ran 4 min 12 s on build-3 of the queue build · exit 1`. */
function Summary({ loaded: { job }, place: { agent, queue }, request }: HeadProps) {
  const { startedAt, finishedAt, exitStatus } = job;
  const org = request.organization.slug;
  return (
    <p class="quiet summary">
      {startedAt && (
        <>
          {finishedAt ? "ran " : "runs "}
          <Duration from={startedAt} to={finishedAt} />
        </>
      )}
      {agent && (
        <>
          {" "}
          on <a href={agentPath(org, agent)}>{agent.name}</a>
        </>
      )}
      {queue && (
        <>
          {" "}
          {agent ? "of" : "for"} the queue <QueueLink queue={queue} org={org} />
        </>
      )}
      {exitStatus !== null && `${separator}exit ${exitStatus}`}
    </p>
  );
}

/** `1 2 [3]`: of this job, of those that it retries and of its retries. */
function Runs({ loaded: { job, attempt }, runs, request }: HeadProps) {
  if (runs.length < 2) return null;
  return (
    <nav class="runs" aria-label="Attempts">
      {runs.map((run, index) => (
        <a
          key={`${run.jobId} ${run.attempt}`}
          href={`${jobPath(request, run.jobId)}?attempt=${run.attempt}`}
          aria-current={run.jobId === job.id && run.attempt === attempt ? "page" : undefined}
          title={stateInWords(run.state)}
        >
          <span class="hidden">Attempt </span>
          {index + 1}
        </a>
      ))}
    </nav>
  );
}

/** The rest of what is known. */
function More(props: HeadProps) {
  const { loaded, request } = props;
  const { size } = loaded.readable.log;
  return (
    <MoreMenu kind="more" title="More of this job">
      <div>
        {loaded.job.type === "script" && (
          <p class="actions">
            <a href={rawLogPath(request, loaded)}>Raw text{size > 0 && `, ${sizeInWords(size)}`}</a>
            <a href={rawLogPath(request, loaded)} download={`${loaded.job.id}.log`}>
              Download
            </a>
            <a href={`${buildPath(request)}#environment`}>Environment</a>
          </p>
        )}
        <Facts {...props} />
      </div>
    </MoreMenu>
  );
}

/** Agents say `SIGTERM` and `cancel`, or one of both. */
function Signal({ job: { signal, signalReason } }: Pick<LoadedJob, "job">) {
  const words = [signal, signalReason?.replaceAll("_", " ")].filter(Boolean);
  return words.length > 0 ? <> ({words.join(", ")})</> : null;
}

function Facts({ loaded: { job, pipeline }, place, request, unsent }: HeadProps) {
  const { queue, agent } = place;
  const { exitStatus, scheduledAt, startedAt, finishedAt, options, promisedAt } = job;
  const org = request.organization.slug;
  const group = options?.group;
  const minutes = timeoutMinutes(pipeline, options?.timeout_in_minutes);
  return (
    <dl class="facts">
      {exitStatus !== null && (
        <>
          <dt>Exit status</dt>
          <dd>
            {exitStatus}
            <Signal job={job} />
          </dd>
        </>
      )}
      <Fact
        name="Promised"
        value={promisedAt && exitStatus === null && `exit status ${job.promisedExitStatus}`}
      />
      <Fact name="Group" value={group && (group.label ?? group.key)} />
      <Fact name={options?.matrix ? "Matrix" : "Place"} value={placeInWords(job)} />
      <Fact name="Queue" value={queue && <QueueLink queue={queue} org={org} />} />
      <Fact
        name="Agent"
        value={
          job.type === "script" &&
          (agent ? (
            <a href={agentPath(org, agent)}>{agent.name}</a>
          ) : (
            <span class="quiet">{job.agentId ? "no longer known" : "none yet"}</span>
          ))
        }
      />
      <Fact
        name="Artifacts"
        value={
          place.artifacts > 0 && (
            <a href={`${buildPath(request, patterns.artifactsPage)}?job=${job.id}`}>
              {countInWords(place.artifacts)}
            </a>
          )
        }
      />
      <Fact name="Time" value={scheduledAt && <TimesOfJob job={job} />} />
      <Fact name="Time-out" value={minutes && inMinutes(minutes)} />
      <Fact name="Started" value={startedAt && <ExactTime at={startedAt} />} />
      <Fact name="Finished" value={finishedAt && <ExactTime at={finishedAt} />} />
      {unsent.length > 0 && (
        <>
          <dt>Not sent</dt>
          <dd>
            {unsent.map((name) => (
              <code key={name} class="agent-tag">
                {name}
              </code>
            ))}{" "}
            Agents set these variables themselves.
          </dd>
        </>
      )}
    </dl>
  );
}

function inMinutes(minutes: number): string {
  return minutes === 1 ? "1 minute" : `${minutes.toLocaleString("en")} minutes`;
}

/** The command, and what must be read before the log. */
export function Notes({ loaded: { job }, place, request }: Omit<HeadProps, "runs" | "unsent" | "sources">) {
  const reason = job.failureReason || brokenInWords(job);
  return (
    <>
      {job.type === "script" && job.command && <Command command={job.command} />}
      {job.type === "trigger" && (
        <p class="job-note">
          Triggers <Triggered job={job} build={place.triggered} request={request} />
        </p>
      )}
      {reason && <p class="job-note reason">{reason}</p>}
    </>
  );
}

/** One line, which unfolds as it was written. */
function Command({ command }: { command: string }) {
  const [first = ""] = command.split("\n");
  return (
    <details class="command" id="command">
      <summary>
        <span class="hidden">Command: </span>
        <code>{first}</code>
      </summary>
      <pre>{command}</pre>
    </details>
  );
}
