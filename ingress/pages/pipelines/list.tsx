import type { Build } from "../../../shared/builds/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/process/services.ts";
import { eventsPath } from "../ui/live.ts";
import { memberPage } from "../ui/member-page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { State } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { loadPipelines } from "./load.ts";
import { loadUse, Use } from "./use.tsx";

/** GET /organizations/:org and /organizations/:org/pipelines */
export function pipelinesPage(services: Services) {
  return memberPage(services, async (request) => {
    const { organization, visitor } = request;
    const { list, builds } = await loadPipelines(services, request);
    const use = await loadUse(services, organization);
    const topics = list.rows.map(({ id }) => `pipeline:${id}` as const);
    const org = organization.slug;
    return {
      title: "Pipelines",
      within: { organization, section: "pipelines" },
      events: eventsPath(services, visitor, { organizations: [organization], topics }),
      content: (
        <>
          <div class="heading">
            <h1>Pipelines</h1>
            <p class="actions">
              <a class="button" href={pathTo(patterns.newPipelinePage, { org })}>
                New pipeline
              </a>
            </p>
          </div>
          {list.rows.length === 0 ? (
            <p class="empty">
              There is no pipeline yet. <a href={pathTo(patterns.newPipelinePage, { org })}>Create one</a>: it
              says what a build runs.
            </p>
          ) : (
            <ul class="entries">
              {list.rows.map((pipeline) => (
                <li key={pipeline.id} class="entry">
                  <h2>
                    <a href={pathTo(patterns.pipelinePage, { org, slug: pipeline.slug })}>{pipeline.name}</a>
                  </h2>
                  <LastBuild
                    org={org}
                    pipeline={pipeline}
                    build={builds.get(pipeline.id)}
                    now={services.clock.now()}
                  />
                </li>
              ))}
            </ul>
          )}
          <NumberPager list={list} path={pathTo(patterns.pipelinesPage, { org })} />
          <Use use={use} />
        </>
      ),
    };
  });
}

function LastBuild({
  org,
  pipeline: { slug },
  build,
  now,
}: {
  org: string;
  pipeline: Pipeline;
  build: Build | undefined;
  now: Date;
}) {
  if (!build) return <p class="quiet">No build yet</p>;
  return (
    <p>
      <State state={build.state} isPaused={build.pausedQueueId !== null} />{" "}
      <a href={pathTo(patterns.buildPage, { org, slug, number: String(build.number) })}>#{build.number}</a>{" "}
      {build.message}{" "}
      <span class="quiet">
        <Time at={build.createdAt} now={now} />
      </span>
    </p>
  );
}
