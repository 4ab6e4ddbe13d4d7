import type { BuildDetails } from "../../../shared/builds/builds.ts";
import { cancelBuild, cancelJob } from "../../../shared/builds/cancel.ts";
import { buildEnvironment } from "../../../shared/builds/environment.ts";
import { rebuild } from "../../../shared/builds/rebuild.ts";
import { retryJob } from "../../../shared/builds/retry.ts";
import { isId } from "../../../shared/ids.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { findPayload } from "../../../shared/triggers/payloads/store.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import type { Bodies } from "../../http/body.ts";
import { seeOther } from "../../http/respond.ts";
import { parseBuildNumber } from "../../http/routing.ts";
import { loadPipeline } from "../pipelines/load.ts";
import { FormError, PostButton } from "../ui/form.tsx";
import { eventsPath } from "../ui/live.ts";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { type Notice, withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { State } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { Jobs } from "./jobs.tsx";
import { admitPayload, buildPath, type LoadedBuild, loadBuild, loadBuildDetails } from "./load.ts";
import { PayloadGone, PayloadView, payloadDownload } from "./payload.tsx";
import { Environment, isEnvironmentShown, PausedQueues } from "./sections.tsx";

/** GET /organizations/:org/pipelines/:slug/builds/:number */
export function buildPage(services: Services) {
  return memberPage(services, (request) => show(services, request));
}

/** POST …/cancel */
export function cancelBuildForm(services: Services, bodies: Bodies) {
  return memberAction(services, bodies, async (request) => {
    const pipeline = await loadPipeline(services, request);
    const number = parseBuildNumber(request.parameter("number"));
    const outcome = await tryForm(() => cancelBuild(services, request.actor, pipeline, number));
    if ("problems" in outcome) return show(services, request, outcome.problems);
    return withNotice(buildPath(request), "build_canceled");
  });
}

/** POST …/rebuild */
export function rebuildForm(services: Services, bodies: Bodies) {
  return memberAction(services, bodies, async (request) => {
    const pipeline = await loadPipeline(services, request);
    const number = parseBuildNumber(request.parameter("number"));
    const outcome = await tryForm(() => rebuild(services, request.actor, pipeline, number, "ui"));
    if ("problems" in outcome) return show(services, request, outcome.problems);
    const path = pathTo(patterns.buildPage, {
      org: request.organization.slug,
      slug: pipeline.slug,
      number: String(outcome.done.build.number),
    });
    return withNotice(path, "build_created");
  });
}

/** POST …/jobs/:job/cancel */
export function cancelJobForm(services: Services, bodies: Bodies) {
  return jobAction(services, bodies, { act: cancelJob, notice: "job_canceled" });
}

/** POST …/jobs/:job/retry */
export function retryJobForm(services: Services, bodies: Bodies) {
  return jobAction(services, bodies, { act: retryJob, notice: "job_retried" });
}

function jobAction(
  services: Services,
  bodies: Bodies,
  { act, notice }: { act: typeof cancelJob | typeof retryJob; notice: Notice },
) {
  return memberAction(services, bodies, async (request) => {
    const details = await loadBuild(services, request);
    const id = request.parameter("job");
    if (!isId(id)) throw notFound("job");
    const outcome = await tryForm<unknown>(() => act(services, request.actor, details, id));
    if ("problems" in outcome) return show(services, request, outcome.problems);
    return withNotice(buildPath(request), notice);
  });
}

/** GET …/cancel: signing in after the session ended leads here. */
export function redirectToBuild(services: Services) {
  return memberPage(services, async (request) => seeOther(buildPath(request)));
}

/** GET …/payload: downloads the webhook's bytes unchanged. */
export function payloadFile(services: Services) {
  return memberPage(services, async (request) => {
    const { build } = await loadBuild(services, request);
    await admitPayload(services, request, build.deliveryId);
    const payload = build.deliveryId === null ? undefined : await findPayload(services.db, build.deliveryId);
    if (!payload) throw notFound("payload");
    return payloadDownload(payload.body, `build-${build.number}-payload.json`);
  });
}

async function show(
  services: Services,
  request: MemberRequest,
  problems?: FormProblems,
): Promise<PageContent> {
  const { organization, visitor } = request;
  const data = await loadBuildDetails(services, request);
  const { details, queues, pausedQueues, users, payload } = data;
  const { build, pipeline } = details;
  const org = organization.slug;
  const now = services.clock.now();
  const topics = [`build:${build.id}` as const, ...[...queues.keys()].map((id) => `queue:${id}` as const)];
  return {
    title: `${pipeline.name} #${build.number}`,
    status: problems ? 422 : 200,
    within: { organization, section: "pipelines" },
    // No live updates after a failed form: its address has no GET page to reload.
    ...(problems ? {} : { events: eventsPath(services, visitor, topics) }),
    content: (
      <>
        <p class="back">
          <a href={pathTo(patterns.pipelinePage, { org, slug: pipeline.slug })}>{pipeline.name}</a>
        </p>
        <div class="heading">
          <h1>
            Build #{build.number} <State state={build.state} isPaused={pausedQueues.length > 0} />
          </h1>
          <div class="actions">
            {!build.finishedAt && build.state !== "canceling" && (
              <PostButton
                visitor={visitor}
                path={buildPath(request, patterns.cancelBuildPage)}
                class="danger"
              >
                Cancel build
              </PostButton>
            )}
            <PostButton
              visitor={visitor}
              path={buildPath(request, patterns.rebuildBuildPage)}
              class="secondary"
            >
              Rebuild
            </PostButton>
          </div>
        </div>
        {problems && <FormError problems={problems} />}
        <p class="lead">{build.message}</p>
        <PausedQueues queues={pausedQueues} users={users} org={org} now={now} />
        <Facts data={data} org={org} now={now} />
        <h2>Jobs</h2>
        <Jobs details={details} queues={queues} agents={data.agents} request={request} now={now} />
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

function Facts({
  data: { details, users, canceler, trigger },
  org,
  now,
}: {
  data: LoadedBuild;
  org: string;
  now: Date;
}) {
  const { branch, commit, source, creatorId, createdAt, startedAt, finishedAt, state } = details.build;
  const creator = users.get(creatorId ?? "")?.name;
  return (
    <dl class="facts panel">
      <dt>Commit</dt>
      <dd class="wide">
        <code>{commit}</code>
      </dd>
      <dt>Branch</dt>
      <dd>{branch}</dd>
      <dt>Created</dt>
      <dd>
        <Time at={createdAt} now={now} /> by {creator ?? (source === "webhook" ? "a webhook" : source)}
      </dd>
      {trigger && <Origin trigger={trigger} details={details} org={org} />}
      {startedAt && (
        <>
          <dt>Started</dt>
          <dd>
            <Time at={startedAt} now={now} />
          </dd>
        </>
      )}
      {finishedAt && (
        <>
          <dt>{state === "canceled" ? "Canceled" : "Finished"}</dt>
          <dd>
            <Time at={finishedAt} now={now} />
            {canceler && ` by ${canceler}`}
          </dd>
        </>
      )}
    </dl>
  );
}

function Origin({ trigger, details, org }: { trigger: Trigger; details: BuildDetails; org: string }) {
  const parameters = { org, slug: details.pipeline.slug, trigger: trigger.id };
  const delivery = details.build.deliveryId ?? "";
  return (
    <>
      <dt>Trigger</dt>
      <dd>
        {trigger.deletedAt ? (
          `${trigger.label}, deleted since`
        ) : (
          <>
            <a href={pathTo(patterns.triggerPage, parameters)}>{trigger.label}</a>,{" "}
            <a href={pathTo(patterns.deliveryPage, { ...parameters, delivery })}>delivery</a>
          </>
        )}
      </dd>
    </>
  );
}
