import { slugProblems } from "../../shared/accounts/organizations.ts";
import { type BuildDetails, listBuildDetails } from "../../shared/builds/builds.ts";
import type { Pipeline } from "../../shared/builds/pipeline-store.ts";
import { requirePipeline } from "../../shared/builds/pipelines.ts";
import { pathTo, patterns } from "../../shared/paths.ts";
import { notFound } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services.ts";
import { eventsPath } from "../live.ts";
import { type MemberRequest, memberPage } from "./member-page.ts";
import { readPageNumber } from "./page-number.ts";
import { Pager, State, Table } from "./tables.tsx";
import { Time } from "./times.tsx";

const perPage = 30;

/** GET /organizations/:org/pipelines/:slug: its builds, newest first. */
export function pipelinePage(services: Services) {
  const { db, clock } = services;
  return memberPage(services, async (request) => {
    const { organization, visitor, event } = request;
    const pipeline = await pipelineOf(services, request);
    const { page, pages, offset } = readPageNumber(event, pipeline.lastBuildNumber, perPage);
    const filter = { organizationId: organization.id, pipelineId: pipeline.id, includePaused: true };
    const { items } = await listBuildDetails(db, filter, { limit: perPage, offset });
    const parameters = { org: organization.slug, slug: pipeline.slug };
    return {
      title: pipeline.name,
      within: { organization, section: "pipelines" },
      events: eventsPath(services, visitor, [`pipeline:${pipeline.id}`]),
      content: (
        <>
          <p class="back">
            <a href={pathTo(patterns.pipelinesPage, parameters)}>Pipelines</a>
          </p>
          <h1>{pipeline.name}</h1>
          {items.length === 0 ? (
            <p>No build yet.</p>
          ) : (
            <Builds items={items} parameters={parameters} now={clock.now()} />
          )}
          <Pager page={page} pages={pages} path={pathTo(patterns.pipelinePage, parameters)} />
        </>
      ),
    };
  });
}

/** @throws Refusal 404 */
export function pipelineOf({ db }: Services, { organization, parameter }: MemberRequest): Promise<Pipeline> {
  const slug = parameter("slug");
  if (slugProblems(slug).length > 0) throw notFound("pipeline");
  return requirePipeline(db, organization.id, slug);
}

function Builds({
  items,
  parameters,
  now,
}: {
  items: BuildDetails[];
  parameters: Record<string, string>;
  now: Date;
}) {
  return (
    <Table caption="Builds" columns={["Build", "State", "Message", "Branch", "Created"]}>
      {items.map(({ build }) => (
        <tr key={build.id}>
          <th scope="row">
            <a href={pathTo(patterns.buildPage, { ...parameters, number: String(build.number) })}>
              #{build.number}
            </a>
          </th>
          <td>
            <State state={build.pausedQueueId ? "paused" : build.state} />
          </td>
          <td class="message">{build.message}</td>
          <td>{build.branch}</td>
          <td>
            <Time at={build.createdAt} now={now} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
