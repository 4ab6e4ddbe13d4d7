import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { type BuildDetails, cancelBuild, findCanceler, requireBuild } from "../../../shared/builds/builds.ts";
import { buildEnvironment } from "../../../shared/builds/environment.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import { listQueuesById } from "../../../shared/queues/store.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { readWebhookPayload } from "../../../shared/triggers/payloads/payloads.ts";
import { findTriggerOfDelivery, type Trigger } from "../../../shared/triggers/store.ts";
import type { Bodies } from "../../http/body.ts";
import { seeOther } from "../../http/respond.ts";
import { parseBuildNumber } from "../../http/routing.ts";
import { payloadDownload } from "../deliveries/show.tsx";
import { pipelineOf } from "../pipelines/show.tsx";
import { FormError, PostButton } from "../ui/form.tsx";
import { eventsPath } from "../ui/live.ts";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { tryForm } from "../ui/problems.ts";
import { State } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { PayloadView } from "./payload.tsx";
import { Environment, Jobs, PausedQueues, pausedQueuesOf } from "./sections.tsx";

/** GET /organizations/:org/pipelines/:slug/builds/:number */
export function buildPage(services: Services) {
  return memberPage(services, async (request) => show(services, request));
}

/** POST …/cancel */
export function cancelBuildForm(services: Services, bodies: Bodies) {
  return memberAction(services, bodies, async (request) => {
    const pipeline = await pipelineOf(services, request);
    const number = parseBuildNumber(request.parameter("number"));
    const outcome = await tryForm(() => cancelBuild(services, request.actor, pipeline, number));
    if ("problem" in outcome) return show(services, request, outcome.problem);
    return withNotice(pathOf(request), "build_canceled");
  });
}

/** GET of the address that takes that form only: who signs in after sending it comes back to here. */
export function backToBuild(services: Services) {
  return memberPage(services, async (request) => seeOther(pathOf(request)));
}

/** GET …/payload: the webhook's bytes as they came, as a file. */
export function payloadFile(services: Services) {
  return memberPage(services, async (request) => {
    const { build } = await detailsOf(services, request);
    const payload = await readWebhookPayload(services, build);
    if (payload === undefined) throw notFound("payload");
    return payloadDownload(payload, `build-${build.number}-payload.json`);
  });
}

async function detailsOf(services: Services, request: MemberRequest): Promise<BuildDetails> {
  const pipeline = await pipelineOf(services, request);
  return requireBuild(services.db, pipeline, parseBuildNumber(request.parameter("number")));
}

function pathOf(
  { organization, parameter }: MemberRequest,
  pattern: PatternWith<"org" | "slug" | "number"> = patterns.buildPage,
): string {
  const parameters = { org: organization.slug, slug: parameter("slug"), number: parameter("number") };
  return pathTo(pattern, parameters);
}

async function show(services: Services, request: MemberRequest, problem?: string): Promise<PageContent> {
  const { organization, visitor } = request;
  const read = await readBuild(services, request);
  const { details, queues, paused, users, payload } = read;
  const { build, pipeline } = details;
  const org = organization.slug;
  const now = services.clock.now();
  const topics = [`build:${build.id}` as const, ...[...queues.keys()].map((id) => `queue:${id}` as const)];
  return {
    title: `${pipeline.name} #${build.number}`,
    status: problem ? 422 : 200,
    within: { organization, section: "pipelines" },
    // What answers a form stands at the form's address, which cannot be asked for again.
    ...(problem ? {} : { events: eventsPath(services, visitor, topics) }),
    content: (
      <>
        <p class="back">
          <a href={pathTo(patterns.pipelinePage, { org, slug: pipeline.slug })}>{pipeline.name}</a>
        </p>
        <div class="heading">
          <h1>
            Build #{build.number} <State state={build.state} isPaused={paused.length > 0} />
          </h1>
          {!build.finishedAt && (
            <PostButton visitor={visitor} path={pathOf(request, patterns.cancelBuildPage)} class="danger">
              Cancel build
            </PostButton>
          )}
        </div>
        {problem && <FormError>{problem}</FormError>}
        <p class="lead">{build.message}</p>
        <PausedQueues queues={paused} users={users} org={org} now={now} />
        <Facts read={read} org={org} now={now} />
        <h2>Jobs</h2>
        <Jobs details={details} queues={queues} org={org} />
        <h2>Environment</h2>
        <Environment variables={buildEnvironment(build, pipeline.slug, org)} />
        {payload !== undefined && (
          <PayloadView payload={payload} path={pathOf(request, patterns.payloadPage)} />
        )}
      </>
    ),
  };
}

type ReadBuild = Awaited<ReturnType<typeof readBuild>>;

async function readBuild(services: Services, request: MemberRequest) {
  const { db } = services;
  const details = await detailsOf(services, request);
  const { build, jobs } = details;
  const queues = await listQueuesById(
    db,
    jobs.map(({ queue }) => queue.id),
  );
  const paused = pausedQueuesOf(details, queues);
  const people = [build.creatorId, ...paused.map(({ dispatchPausedById }) => dispatchPausedById)];
  return {
    details,
    queues,
    paused,
    users: await listUsersById(
      db,
      people.filter((id) => id !== null),
    ),
    canceler: await findCanceler(db, build),
    trigger: build.deliveryId === null ? undefined : await findTriggerOfDelivery(db, build.deliveryId),
    payload: await readWebhookPayload(services, build),
  };
}

function Facts({
  read: { details, users, canceler, trigger },
  org,
  now,
}: {
  read: ReadBuild;
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

/** The trigger and the delivery that made the build. Those of a deleted trigger have no page. */
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
