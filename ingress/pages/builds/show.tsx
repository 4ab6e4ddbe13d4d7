import { buildEnvironment } from "../../../shared/builds/rows/environment.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { findPayload } from "../../../shared/triggers/payloads/store.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { buildPath, loadBuild } from "../address/build.ts";
import { havePictures, loadAnnotations } from "../annotations/load.ts";
import { Annotations } from "../annotations/section.tsx";
import { Waiting } from "../job-facts/remedy.tsx";
import { TriggeredBy } from "../job-facts/triggered.tsx";
import { State } from "../states/state.tsx";
import { FormError, PostButton } from "../ui/form.tsx";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { countInWords, NumberPager } from "../ui/pager.tsx";
import type { FormProblems } from "../ui/problems.ts";
import { Fact } from "../ui/tables.tsx";
import { UnfoldingTime } from "../ui/times.tsx";
import { Commit } from "./commit.tsx";
import { ForkNote, HostFacts } from "./facts.tsx";
import { Headline } from "./headline.tsx";
import { Jobs } from "./jobs.tsx";
import { admitPayload, type LoadedBuild, loadBuildDetails } from "./load.ts";
import { PayloadGone, PayloadView, payloadDownload } from "./payload.tsx";
import { Environment, isEnvironmentShown, PausedQueues, Warnings } from "./sections.tsx";
import { loadSent, SentMessages } from "./sent.tsx";
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
  const { build, pipeline, list, queues, pausedQueues, users, payload } = data;
  const isInForm = data.unblockable.some(({ id }) => id === unblocking?.jobId);
  const org = organization.slug;
  const annotations = await loadAnnotations(services, build);
  const sent = await loadSent(services, organization.id, build.id);
  const topics = [`build:${build.id}` as const, ...[...queues.keys()].map((id) => `queue:${id}` as const)];
  return {
    title: `Build #${build.number}`,
    status: problems ? 422 : 200,
    section: "pipelines",
    script: "copy.js",
    topics,
    hasPictures: havePictures(annotations),
    content: (
      <>
        <div class="heading">
          <h1>
            Build #{build.number} <State state={build.state} isPaused={pausedQueues.length > 0} />
          </h1>
          <Actions data={data} request={request} />
        </div>
        {problems && !isInForm && <FormError problems={problems} />}
        <Headline build={build} />
        <p class="lead">{build.message}</p>
        <ForkNote build={build} />
        <Unblocks
          jobs={data.unblockable}
          hasMore={data.hasMoreUnblockable}
          refused={unblocking}
          request={request}
        />
        <PausedQueues queues={pausedQueues} users={users} org={org} />
        <NoAgents data={data} request={request} />
        <Facts data={data} request={request} />
        <Warnings warnings={data.warnings} />
        <SentMessages sent={sent} request={request} />
        <Annotations annotations={annotations} request={request} />
        {data.stages && <Stages shown={data.stages} named={data.named} request={request} />}
        <h2 id="jobs">Jobs</h2>
        <Jobs data={data} request={request} />
        <NumberPager list={list} path={buildPath(request)} />
        <h2>Environment</h2>
        <Environment
          variables={buildEnvironment(services.cipher, build, { org, slug: pipeline.slug })}
          path={buildPath(request)}
          isShown={isEnvironmentShown(request)}
        />
        {payload !== undefined && (
          <PayloadView payload={payload} path={buildPath(request, patterns.payloadPage)} />
        )}
        {payload === undefined && build.source === "webhook" && <PayloadGone />}
      </>
    ),
  };
}

/** Holds back all jobs of a queue, as a pause does. */
function NoAgents({ data: { reasons }, request }: { data: LoadedBuild; request: MemberRequest }) {
  const byQueue = new Map(
    [...reasons.values()].flatMap((each) => (each.kind === "no_agent" ? [[each.queue.id, each]] : [])),
  );
  return [...byQueue.values()].map((reason) => (
    <Waiting key={reason.queue.id} reason={reason} request={request} />
  ));
}

function Actions({ data, request }: { data: LoadedBuild; request: MemberRequest }) {
  const { build, pipeline, failedJobs } = data;
  const isCancelable = !build.finishedAt && build.state !== "canceling";
  return (
    <div class="actions">
      {isCancelable && (
        <PostButton path={buildPath(request, patterns.cancelBuildPage)} class="danger">
          Cancel build
        </PostButton>
      )}
      {failedJobs > 0 && ["failed", "failing", "blocked_failed"].includes(build.state) && (
        <PostButton
          path={buildPath(request, patterns.retryFailedJobsPage)}
          class={isCancelable ? "secondary" : ""}
        >
          {failedJobs === 1 ? "Retry failed job" : `Retry ${failedJobs} failed jobs`}
        </PostButton>
      )}
      {pipeline.allowRebuilds && (
        <PostButton path={buildPath(request, patterns.rebuildBuildPage)} class="secondary">
          Rebuild
        </PostButton>
      )}
    </div>
  );
}

const sourceWords: Record<string, string> = { webhook: "a webhook", trigger_job: "a step" };

function Facts({ data, request }: { data: LoadedBuild; request: MemberRequest }) {
  const { build, pipeline, users, canceler, trigger, rebuiltFrom } = data;
  const { branch, commit, source, creatorId, createdAt, startedAt, finishedAt, state } = build;
  const creator = users.get(creatorId ?? "")?.name;
  const from = build.options?.triggered_from;
  const original = rebuiltFrom && { ...addressOf(request), number: String(rebuiltFrom.number) };
  return (
    <dl class="facts panel">
      <Fact
        name="Commit"
        value={<Commit commit={commit} repository={pipeline.repository} isWhole />}
        class="wide"
      />
      <Fact name="Branch" value={branch} />
      <HostFacts build={build} pullRequest={data.pullRequest} tag={data.tag} />
      <dt>Created</dt>
      <dd>
        <UnfoldingTime at={createdAt} id="created-at" /> by {creator ?? sourceWords[source] ?? source}
      </dd>
      <Fact
        name="Rebuild of"
        value={original && <a href={pathTo(patterns.buildPage, original)}>#{original.number}</a>}
      />
      <Fact
        name="Triggered by"
        value={from && <TriggeredBy from={from} jobId={build.triggeredByJobId} request={request} />}
      />
      {trigger && <Origin trigger={trigger} delivery={build.deliveryId ?? ""} request={request} />}
      <Fact
        name="Artifacts"
        value={
          data.artifacts > 0 && (
            <a href={buildPath(request, patterns.artifactsPage)}>{countInWords(data.artifacts)}</a>
          )
        }
      />
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
      <dt>{trigger.isProvider ? "Provider" : "Trigger"}</dt>
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
