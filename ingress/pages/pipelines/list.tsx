import { type Build, listLastBuilds } from "../../../shared/builds/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { countPipelines, listPipelines, type Pipeline } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { readPageWithin } from "../../http/number-pager.ts";
import { eventsPath } from "../ui/live.ts";
import { memberPage } from "../ui/member-page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { State } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";

const perPage = 30;

/** GET /organizations/:org and /organizations/:org/pipelines */
export function pipelinesPage(services: Services) {
  const { db, clock } = services;
  return memberPage(services, async ({ organization, visitor, event }) => {
    const total = await countPipelines(db, organization.id);
    const page = readPageWithin(event, total, perPage);
    const pipelines = await listPipelines(db, organization.id, page);
    const builds = await listLastBuilds(db, pipelines);
    const topics = pipelines.map(({ id }) => `pipeline:${id}` as const);
    const org = organization.slug;
    return {
      title: "Pipelines",
      within: { organization, section: "pipelines" },
      events: eventsPath(services, visitor, topics),
      content: (
        <>
          <h1>Pipelines</h1>
          {pipelines.length === 0 ? (
            <p class="empty">
              There is no pipeline yet. Create one with the <a href={patterns.docs}>REST API</a>, or have the
              operator make one with <code>npm run -s admin -- pipeline create</code>.
            </p>
          ) : (
            <ul class="entries">
              {pipelines.map((pipeline) => (
                <li key={pipeline.id} class="entry">
                  <h2>
                    <a href={pathTo(patterns.pipelinePage, { org, slug: pipeline.slug })}>{pipeline.name}</a>
                  </h2>
                  <LastBuild
                    org={org}
                    pipeline={pipeline}
                    build={builds.get(pipeline.id)}
                    now={clock.now()}
                  />
                </li>
              ))}
            </ul>
          )}
          <NumberPager page={page} total={total} path={pathTo(patterns.pipelinesPage, { org })} />
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
