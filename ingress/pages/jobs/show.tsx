import { unsentNames } from "../../../shared/agents/job-environment.ts";
import { readBytes } from "../../../shared/agents/logs/read.ts";
import { findJobOfBuild } from "../../../shared/builds/reading/answer-store.ts";
import { titleOf } from "../../../shared/builds/reading/titles.ts";
import { hashToken } from "../../../shared/crypto/tokens.ts";
import { isId } from "../../../shared/ids.ts";
import type { Services } from "../../../shared/services/services.ts";
import { streamDownload } from "../../http/downloads.ts";
import { logResponse } from "../../logs/document.tsx";
import { agentPath } from "../address/agent.ts";
import { buildPath, loadBuild } from "../address/build.ts";
import { havePictures, loadAnnotations } from "../annotations/load.ts";
import { Annotations } from "../annotations/section.tsx";
import { readEnd } from "../builds/failed/load.ts";
import { loadStepsSources } from "../commits/steps-source.tsx";
import { CheckoutFailed } from "../job-facts/checkout-failed.tsx";
import { loadCheckoutFailure } from "../job-facts/checkout-failure.ts";
import { Waiting } from "../job-facts/remedy.tsx";
import { kindOf } from "../states/kinds.ts";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { Time } from "../ui/times.tsx";
import { Head, Notes } from "./head.tsx";
import { loadJob, loadPlace, loadRuns } from "./load.ts";
import { Log } from "./log.tsx";
import { JobsOfBuild, loadSiblings } from "./siblings.tsx";
import { loadView } from "./view.ts";

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
  const { build, job, readable } = loaded;
  const view = job.type === "script" ? await loadView(services, request, loaded) : undefined;
  const place = await loadPlace(services, loaded);
  const runs = await loadRuns(services, loaded);
  const siblings = await loadSiblings(services, build, job);
  const annotations = await loadAnnotations(services, build, job.id);
  const unsent = unsentNames({ ...services, ...loaded });
  const hasFailed = kindOf(job) === "failed";
  const sources = await loadStepsSources(services, loaded, hasFailed ? [job] : []);
  const end = hasFailed ? await readEnd(services, readable) : [];
  const checkout = await loadCheckoutFailure(services, loaded, end);
  return {
    title: titleOf(job),
    state: kindOf(job),
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
        <JobsOfBuild siblings={siblings} present={job} pipeline={loaded.pipeline} request={request} />
        <Head loaded={loaded} place={place} runs={runs} request={request} unsent={unsent} sources={sources} />
        <Notes loaded={loaded} place={place} request={request} />
        {checkout && <CheckoutFailed failure={checkout} {...loaded} request={request} />}
        {place.isAgain && <Lost by={place.lostBy} request={request} />}
        {place.reason && <Waiting reason={place.reason} jobs={place.jobs} request={request} />}
        <Notifications notifications={place.notifications} />
        <Annotations annotations={annotations} request={request} />
        {view && <Log loaded={loaded} view={view} request={request} />}
      </>
    ),
  };
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
