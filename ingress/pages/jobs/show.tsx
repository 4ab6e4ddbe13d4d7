import { unsentNames } from "../../../shared/agents/job-environment.ts";
import type { LogPage } from "../../../shared/agents/logs/page.ts";
import { readBytes } from "../../../shared/agents/logs/read.ts";
import { findJobOfBuild } from "../../../shared/builds/reading/answer-store.ts";
import { placeInWords, titleOf } from "../../../shared/builds/reading/titles.ts";
import { hashToken } from "../../../shared/crypto/tokens.ts";
import { isId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import { timeoutMinutes } from "../../../shared/pipelines/settings.ts";
import type { Services } from "../../../shared/services/services.ts";
import { streamDownload } from "../../http/downloads.ts";
import { logResponse } from "../../logs/document.tsx";
import { agentPath } from "../address/agent.ts";
import { buildPath, jobPath, loadBuild } from "../address/build.ts";
import { havePictures, loadAnnotations } from "../annotations/load.ts";
import { Annotations } from "../annotations/section.tsx";
import { TimesOfJob } from "../builds/headline.tsx";
import { Buttons } from "../builds/jobs.tsx";
import { sizeInWords } from "../builds/payload.tsx";
import { QueueLink } from "../builds/sections.tsx";
import { Waiting } from "../job-facts/remedy.tsx";
import { Triggered } from "../job-facts/triggered.tsx";
import { brokenInWords } from "../states/kinds.ts";
import { State } from "../states/state.tsx";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { CursorPager, countInWords } from "../ui/pager.tsx";
import { Fact } from "../ui/tables.tsx";
import { Time, UnfoldingTime } from "../ui/times.tsx";
import { Lines } from "./lines.tsx";
import { type LoadedJob, lineOf, loadJob, loadLines, loadPlace } from "./load.ts";

/** GET /organizations/:org/pipelines/:slug/builds/:number/jobs/:job */
export const jobPage = memberPage(
  async (services, request) => (await placeOfManual(services, request)) ?? show(services, request),
);

/** A manual job has no page of its own: its place in its build. Undefined: the job is another one. */
async function placeOfManual(services: Services, request: MemberRequest): Promise<string | undefined> {
  const { build } = await loadBuild(services, request);
  const id = request.parameter("job");
  const job = isId(id) ? await findJobOfBuild(services.db, build.id, id) : undefined;
  return job?.type === "manual" ? `${buildPath(request)}#${job.id}` : undefined;
}

/** GET …/log.txt: the log byte for byte. */
export const jobLogFile = memberPage(async (services, request) => {
  const { event, visitor, organization } = request;
  const { readable } = await loadJob(services, request);
  const owner = { holder: `session ${hashToken(visitor.token)}`, organizationId: organization.id };
  const body = streamDownload(event, owner, readBytes(services.db, readable));
  return logResponse("text/plain;charset=UTF-8", body);
});

async function show(services: Services, request: MemberRequest): Promise<PageContent> {
  const loaded = await loadJob(services, request);
  const page = await loadLines(services, request, loaded);
  const { build, job } = loaded;
  const place = await loadPlace(services, loaded);
  const annotations = await loadAnnotations(services, build, job.id);
  const title = titleOf(job);
  return {
    title,
    hasPictures: havePictures(annotations),
    section: "pipelines",
    topics: [
      `build:${build.id}`,
      `job:${job.id}`,
      // Agents that connect, and pauses, change why it waits.
      ...(place.queue && place.reason ? [`queue:${place.queue.id}` as const] : []),
    ],
    script: "log.js",
    content: (
      <>
        <div class="heading">
          <h1>
            {title} <State state={job.state} />
          </h1>
          <Buttons job={job} request={request} />
        </div>
        {place.isAgain && <Lost by={place.lostBy} request={request} />}
        {place.reason && <Waiting reason={place.reason} jobs={place.jobs} request={request} />}
        <Facts
          loaded={loaded}
          place={place}
          request={request}
          unsent={unsentNames({ ...services, ...loaded })}
        />
        <Notifications notifications={place.notifications} />
        <Annotations annotations={annotations} request={request} />
        <Attempts loaded={loaded} request={request} />
        {job.type === "script" && <Log loaded={loaded} page={page} request={request} />}
      </>
    ),
  };
}

/** Agents say `SIGTERM` and `cancel`, or one of both. */
function Signal({ job: { signal, signalReason } }: Pick<LoadedJob, "job">) {
  const words = [signal, signalReason?.replaceAll("_", " ")].filter(Boolean);
  return words.length > 0 ? <> ({words.join(", ")})</> : null;
}

function Lost({
  by,
  request,
}: {
  by: Awaited<ReturnType<typeof loadPlace>>["lostBy"];
  request: MemberRequest;
}) {
  return (
    <p class="lead">
      Lost by {by ? <a href={agentPath(request.organization.slug, by)}>{by.name}</a> : "its agent"}, waiting
      again.
    </p>
  );
}

interface FactsProps {
  loaded: LoadedJob;
  place: Awaited<ReturnType<typeof loadPlace>>;
  request: MemberRequest;
  /** Names of variables. */
  unsent: string[];
}

function Facts({ loaded: { job, pipeline }, place, request, unsent }: FactsProps) {
  const { queue, agent, triggered } = place;
  const { command, exitStatus, failureReason, scheduledAt, startedAt, finishedAt, options } = job;
  const { promisedAt, promisedExitStatus } = job;
  const org = request.organization.slug;
  const group = options?.group;
  const minutes = timeoutMinutes(pipeline, options?.timeout_in_minutes);
  return (
    <dl class="facts panel">
      <Fact name="Command" value={job.type === "script" && <code>{command}</code>} class="wide" />
      <Fact
        name="Triggers"
        value={job.type === "trigger" && <Triggered job={job} build={triggered} request={request} />}
      />
      {unsent.length > 0 && (
        <>
          <dt>Not sent</dt>
          <dd class="wide">
            {unsent.map((name) => (
              <code key={name} class="agent-tag">
                {name}
              </code>
            ))}{" "}
            Agents set these variables themselves.
          </dd>
        </>
      )}
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
        value={promisedAt && exitStatus === null && `exit status ${promisedExitStatus}`}
      />
      <Fact name="Reason" value={failureReason || brokenInWords(job)} />
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
      <Fact name="Started" value={startedAt && <UnfoldingTime at={startedAt} id="started-at" />} />
      <Fact name="Finished" value={finishedAt && <UnfoldingTime at={finishedAt} id="finished-at" />} />
    </dl>
  );
}

function inMinutes(minutes: number): string {
  return minutes === 1 ? "1 minute" : `${minutes.toLocaleString("en")} minutes`;
}

/** Notifications of stacks that started an agent for the job. */
function Notifications({ notifications }: Pick<Awaited<ReturnType<typeof loadPlace>>, "notifications">) {
  if (notifications.length === 0) return null;
  return (
    <section aria-labelledby="notifications">
      <h2 id="notifications">Start of its agent</h2>
      <ol class="times">
        {notifications.map(({ id, detail, notifiedAt }) => (
          <li key={id}>
            <Time at={notifiedAt} /> {detail}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Links to the other attempts, of this job and of those that it retries. */
function Attempts({ loaded: { job, attempt }, request }: { loaded: LoadedJob; request: MemberRequest }) {
  const path = (id: string) => jobPath(request, id);
  const attempts = Array.from({ length: job.attempt }, (_, index) => index + 1);
  const others = {
    ...(job.retryOfJobId && { "Job that this one retries": path(job.retryOfJobId) }),
    ...(job.retriedInJobId && { "Its retry": path(job.retriedInJobId) }),
    ...(attempts.length > 1 &&
      Object.fromEntries(
        attempts
          .filter((each) => each !== attempt)
          .map((each) => [`Attempt ${each}`, `${path(job.id)}?attempt=${each}`]),
      )),
  };
  return <CursorPager label="Other attempts" links={others} />;
}

function Log({ loaded, page, request }: { loaded: LoadedJob; page: LogPage; request: MemberRequest }) {
  const { readable, job, attempt } = loaded;
  const { log, isOpen } = readable;
  const { lines, start, end, isLast } = page;
  const path = jobPath(request, job.id);
  const address = (place: Record<string, string>) =>
    `${path}?${new URLSearchParams({ ...(attempt !== job.attempt && { attempt: String(attempt) }), ...place })}`;
  const earlier = start > 0 ? address({ before: String(start) }) : undefined;
  const later = isLast ? undefined : address({ from: String(end) });
  const raw = `${jobPath(request, job.id, patterns.jobLogPage)}?attempt=${attempt}`;
  return (
    <section
      id="log"
      class="log"
      aria-labelledby="log-heading"
      data-next={address({ attempt: String(attempt), from: String(end) })}
      data-follows={isLast ? "" : undefined}
    >
      <div class="heading">
        <h2 id="log-heading">Log</h2>
        <p class="actions">
          <label>
            <input type="checkbox" id="times" autocomplete="off" /> Show times
          </label>{" "}
          <a href={raw}>Raw text{log.size > 0 && `, ${sizeInWords(log.size)}`}</a>{" "}
          <a href="#end">End of page</a>
        </p>
      </div>
      <CursorPager
        label="Earlier lines"
        links={{ Beginning: earlier && address({ from: "0" }), Earlier: earlier }}
      />
      <Lines lines={lines} attempt={attempt} named={lineOf(request)} isLast={isLast} />
      {log.evictedAt ? (
        <p class="empty">This log is no longer kept.</p>
      ) : (
        lines.length === 0 && start === 0 && <p class="empty">{isOpen ? "No output yet." : "No output."}</p>
      )}
      <CursorPager label="Later lines" links={{ Later: later, End: later && address({ end: "1" }) }} />
      <span id="end" />
    </section>
  );
}
