import { HTTPResponse } from "h3";
import { type BuildDetails, cancelBuild, requireBuild } from "../../shared/builds/builds.ts";
import { buildEnvironment } from "../../shared/builds/environment.ts";
import { pathTo, patterns } from "../../shared/paths.ts";
import { listQueuesById, type Queue } from "../../shared/queues/store.ts";
import { notFound } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services.ts";
import { readWebhookPayload } from "../../shared/triggers/payloads.ts";
import { readNumber } from "../api/builds.ts";
import type { Bodies } from "../body.ts";
import { eventsPath } from "../live.ts";
import { FormError, PostButton } from "./form-parts.tsx";
import { type MemberRequest, memberAction, memberPage, orProblem } from "./member-page.ts";
import type { Shown } from "./page.ts";
import { PayloadView } from "./payload-view.tsx";
import { pipelineOf } from "./pipeline-page.tsx";
import { State, Table } from "./tables.tsx";
import { Time } from "./times.tsx";

/** GET /organizations/:org/pipelines/:slug/builds/:number */
export function buildPage(services: Services) {
  return memberPage(services, async (request) => show(services, request));
}

/** POST …/cancel */
export function cancelBuildForm(services: Services, bodies: Bodies) {
  return memberAction(services, bodies, async (request) => {
    const pipeline = await pipelineOf(services, request);
    const number = readNumber(request.parameter("number"));
    const outcome = await orProblem(() => cancelBuild(services, request.actor, pipeline, number));
    return "problem" in outcome ? show(services, request, outcome.problem) : pathOf(request);
  });
}

/** GET …/payload: the webhook's bytes as they came, as a file. */
export function payloadFile(services: Services) {
  return memberPage(services, async (request) => {
    const { build } = await detailsOf(services, request);
    const payload = await readWebhookPayload(services, build);
    if (payload === undefined) throw notFound("payload");
    return new HTTPResponse(payload, {
      headers: {
        "content-type": "application/json",
        "content-disposition": `attachment; filename="build-${build.number}-payload.json"`,
        "x-content-type-options": "nosniff",
        "cache-control": "private, no-store",
      },
    });
  });
}

async function detailsOf(services: Services, request: MemberRequest): Promise<BuildDetails> {
  const pipeline = await pipelineOf(services, request);
  return requireBuild(services.db, pipeline, readNumber(request.parameter("number")));
}

function pathOf({ organization, parameter }: MemberRequest, pattern: string = patterns.buildPage): string {
  const parameters = { org: organization.slug, slug: parameter("slug"), number: parameter("number") };
  return pathTo(pattern, parameters);
}

async function show(services: Services, request: MemberRequest, problem?: string): Promise<Shown> {
  const { db, clock } = services;
  const { organization, visitor } = request;
  const details = await detailsOf(services, request);
  const { build, pipeline, jobs } = details;
  const queues = await listQueuesById(
    db,
    jobs.map(({ queue }) => queue.id),
  );
  const payload = await readWebhookPayload(services, build);
  const topics = [`build:${build.id}` as const, ...[...queues.keys()].map((id) => `queue:${id}` as const)];
  const isOver = build.finishedAt !== null;
  return {
    title: `${pipeline.name} #${build.number}`,
    status: problem ? 422 : 200,
    within: { organization, section: "pipelines" },
    events: eventsPath(services, visitor, topics),
    content: (
      <>
        <p class="back">
          <a href={pathTo(patterns.pipelinePage, { org: organization.slug, slug: pipeline.slug })}>
            {pipeline.name}
          </a>
        </p>
        <h1>
          Build #{build.number} <State state={build.state} />
        </h1>
        {problem && <FormError>{problem}</FormError>}
        <p class="lead">{build.message}</p>
        <PausedQueues details={details} queues={queues} org={organization.slug} />
        <dl class="facts">
          <dt>Branch</dt>
          <dd>{build.branch}</dd>
          <dt>Commit</dt>
          <dd>
            <code>{build.commit}</code>
          </dd>
          <dt>Source</dt>
          <dd>{build.source}</dd>
          <dt>Created</dt>
          <dd>
            <Time at={build.createdAt} now={clock.now()} />
          </dd>
          {build.finishedAt && (
            <>
              <dt>Finished</dt>
              <dd>
                <Time at={build.finishedAt} now={clock.now()} />
              </dd>
            </>
          )}
        </dl>
        {!isOver && (
          <PostButton visitor={visitor} path={pathOf(request, patterns.cancelBuildPage)} class="danger">
            Cancel build
          </PostButton>
        )}
        <h2>Jobs</h2>
        <Jobs details={details} org={organization.slug} />
        <h2>Environment</h2>
        <Environment variables={buildEnvironment(build, pipeline.slug, organization.slug)} />
        {payload !== undefined && (
          <PayloadView payload={payload} path={pathOf(request, patterns.payloadPage)} />
        )}
      </>
    ),
  };
}

/** Who paused the queues that waiting jobs of the build sit on, and why. */
function PausedQueues({
  details,
  queues,
  org,
}: {
  details: BuildDetails;
  queues: Map<string, Queue>;
  org: string;
}) {
  const waiting = new Set(
    details.jobs.filter(({ job }) => job.state === "scheduled").map(({ queue }) => queue.id),
  );
  const paused = [...queues.values()].filter((queue) => queue.dispatchPausedAt && waiting.has(queue.id));
  return (
    <>
      {paused.map((queue) => (
        <div class="warning" key={queue.id}>
          <p>
            The queue{" "}
            <a href={pathTo(patterns.queuePage, { org, cluster: queue.clusterId, queue: queue.id })}>
              {queue.key}
            </a>{" "}
            is paused: jobs of this build wait for it.
          </p>
          {queue.dispatchPausedNote && <p class="note">{queue.dispatchPausedNote}</p>}
        </div>
      ))}
    </>
  );
}

function Jobs({ details: { jobs }, org }: { details: BuildDetails; org: string }) {
  return (
    <Table caption="Jobs" columns={["State", "Step", "Queue"]}>
      {jobs.map(({ job, queue }) => (
        <tr key={job.id} id={job.id}>
          <td>
            <State state={job.state} />
          </td>
          <th scope="row">
            {job.label && <>{job.label} </>}
            <code>{job.command}</code>
          </th>
          <td>
            <a href={pathTo(patterns.queuePage, { org, cluster: queue.clusterId, queue: queue.id })}>
              {queue.key}
            </a>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Environment({ variables }: { variables: Record<string, string> }) {
  return (
    <details id="environment">
      <summary>{Object.keys(variables).length} variables</summary>
      <dl class="facts">
        {Object.entries(variables).map(([name, value]) => (
          <>
            <dt key={name}>
              <code>{name}</code>
            </dt>
            <dd key={`${name} value`}>{value}</dd>
          </>
        ))}
      </dl>
    </details>
  );
}
