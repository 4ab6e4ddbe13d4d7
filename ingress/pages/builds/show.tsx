import { buildEnvironment } from "../../../shared/builds/rows/environment.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { findPayload } from "../../../shared/triggers/payloads/store.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { buildPath, loadBuild } from "../address/build.ts";
import { havePictures, loadAnnotations } from "../annotations/load.ts";
import { Annotations } from "../annotations/section.tsx";
import { loadStepsSources, StepsSource } from "../commits/steps-source.tsx";
import { FormError } from "../ui/form.tsx";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { NumberPager } from "../ui/pager.tsx";
import type { FormProblems } from "../ui/problems.ts";
import { Fact } from "../ui/tables.tsx";
import { UnfoldingTime } from "../ui/times.tsx";
import { loadBeside } from "./beside/load.ts";
import { Artifacts, History, MetaData, Part, Payload, TriggeredBuilds } from "./beside/sections.tsx";
import { loadSent, SentMessages } from "./beside/sent.tsx";
import { ForkNote, HostFacts } from "./facts.tsx";
import { loadFailed } from "./failed/load.ts";
import { Failed } from "./failed/section.tsx";
import { Head } from "./head.tsx";
import { JobFilters, queryOfFilter } from "./job-filter.tsx";
import { Jobs } from "./jobs.tsx";
import { admitPayload, type LoadedBuild, loadBuildDetails } from "./load.ts";
import { payloadDownload } from "./payload.tsx";
import { Environment, HeldBack, isEnvironmentShown, Warnings } from "./sections.tsx";
import { Stages } from "./stages/stages.tsx";
import { type RefusedUnblocking, Unblocks } from "./unblock.tsx";

/** GET /organizations/:org/pipelines/:slug/builds/:number */
export const buildPage = memberPage((services, request) => showBuild(services, request));

/** GET …/payload: downloads the webhook's bytes unchanged. */
export const payloadFile = memberPage(async (services, request) => {
  const { build } = await loadBuild(services, request);
  await admitPayload(services, request, build.deliveryId);
  const payload = build.deliveryId === null ? undefined : await findPayload(services.db, build.deliveryId);
  if (!payload) throw notFound("payload");
  return payloadDownload(payload.body, `build-${build.number}-payload.json`);
});

/**
 * @param problems of a form that was refused
 * @param unblocking the form, if it unblocks a step
 */
export async function showBuild(
  services: Services,
  request: MemberRequest,
  problems?: FormProblems,
  unblocking?: RefusedUnblocking,
): Promise<PageContent> {
  const { organization } = request;
  const data = await loadBuildDetails(services, request);
  const { build, pipeline, list, queues } = data;
  const isInForm = data.unblockable.some(({ id }) => id === unblocking?.jobId);
  const annotations = await loadAnnotations(services, build);
  const failed = await loadFailed(services, build, pipeline);
  const sources = await loadStepsSources(
    services,
    data,
    failed.map(({ job }) => job),
  );
  const beside = await loadBeside(services, build);
  const sent = await loadSent(services, organization.id, build.id);
  const address = { org: organization.slug, slug: pipeline.slug };
  const topics = [`build:${build.id}` as const, ...[...queues.keys()].map((id) => `queue:${id}` as const)];
  return {
    title: `Build #${build.number}`,
    state: build.state,
    status: problems ? 422 : 200,
    section: "pipelines",
    script: "copy.js",
    topics,
    hasPictures: havePictures(annotations),
    content: (
      <>
        <Head data={data} sources={sources} request={request} />
        {problems && !isInForm && <FormError problems={problems} />}
        <ForkNote build={build} />
        <HeldBack data={data} request={request} />
        <Failed failed={failed} total={data.failedJobs} build={build} pipeline={pipeline} request={request}>
          <StepsSource sources={sources} request={request} />
        </Failed>
        <Unblocks
          jobs={data.unblockable}
          hasMore={data.hasMoreUnblockable}
          refused={unblocking}
          request={request}
        />
        <Warnings warnings={data.warnings} />
        <Annotations annotations={annotations} request={request} />
        {data.stages && <Stages shown={data.stages} named={data.named} request={request} />}
        <div class="columns" data-blocks="columns">
          <div data-blocks="main">
            <h2 id="jobs">Jobs</h2>
            <JobFilters placed={data.placed} filter={data.filter} request={request} />
            <Jobs data={data} request={request} />
            <NumberPager
              list={list}
              path={buildPath(request)}
              query={queryOfFilter(data.filter)}
              section="jobs"
            />
          </div>
          <aside aria-label="More about the build" data-blocks="beside">
            <Artifacts beside={beside} request={request} />
            <MetaData beside={beside} />
            <Part id="facts" title="Facts">
              <Facts data={data} request={request} />
            </Part>
            <section data-part="" aria-labelledby="environment-title">
              <h2 id="environment-title">Environment</h2>
              <Environment
                variables={buildEnvironment(services.cipher, build, address)}
                path={buildPath(request)}
                isShown={isEnvironmentShown(request)}
              />
            </section>
            {build.deliveryId !== null && <Payload bytes={data.payloadBytes} request={request} />}
            <TriggeredBuilds rows={list.rows} triggered={data.triggered} request={request} />
            <History beside={beside} request={request} />
            <SentMessages sent={sent} request={request} />
          </aside>
        </div>
      </>
    ),
  };
}

function Facts({ data, request }: { data: LoadedBuild; request: MemberRequest }) {
  const { build, canceler, trigger, rebuiltFrom } = data;
  const { createdAt, startedAt, finishedAt, state } = build;
  const original = rebuiltFrom && { ...addressOf(request), number: String(rebuiltFrom.number) };
  return (
    <dl class="facts">
      <HostFacts build={build} pullRequest={data.pullRequest} tag={data.tag} />
      <Fact name="Created" value={<UnfoldingTime at={createdAt} id="created-at" />} />
      <Fact name="Started" value={startedAt && <UnfoldingTime at={startedAt} id="started-at" />} />
      {finishedAt && (
        <>
          <dt>{state === "canceled" ? "Canceled" : "Finished"}</dt>
          <dd>
            <UnfoldingTime at={finishedAt} id="finished-at" />
            {canceler && ` by ${canceler}`}
          </dd>
        </>
      )}
      <Fact
        name="Rebuild of"
        value={original && <a href={pathTo(patterns.buildPage, original)}>#{original.number}</a>}
      />
      {trigger && <Origin trigger={trigger} delivery={build.deliveryId ?? ""} request={request} />}
    </dl>
  );
}

function Origin({
  trigger,
  delivery,
  request,
}: {
  trigger: Pick<Trigger, "id" | "label" | "isProvider" | "deletedAt">;
  delivery: string;
  request: MemberRequest;
}) {
  const parameters = { ...addressOf(request), trigger: trigger.id };
  const page = trigger.isProvider ? patterns.providerPage : patterns.triggerPage;
  return (
    <>
      <dt>{trigger.isProvider ? "Source host" : "Trigger"}</dt>
      <dd>
        {trigger.deletedAt ? (
          `${trigger.label}, deleted since`
        ) : (
          <>
            <a href={pathTo(page, parameters)}>{trigger.label}</a>,{" "}
            <a href={pathTo(patterns.deliveryPage, { ...parameters, delivery })}>delivery</a>
          </>
        )}
      </dd>
    </>
  );
}

function addressOf({ organization, parameter }: MemberRequest) {
  return { org: organization.slug, slug: parameter("slug") };
}
