import type { ListedBuild } from "../../../shared/builds/rows/build-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { ListedPipeline } from "../../../shared/pipelines/store.ts";
import { firstLine } from "../builds/list.tsx";
import { titleOf } from "../resources/title.ts";
import { State } from "../states/state.tsx";
import { LinkButton } from "../ui/form.tsx";
import { memberPage } from "../ui/member-page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { EntryList, separator } from "../ui/tables.tsx";
import { Time, Work } from "../ui/times.tsx";
import { loadPipelines } from "./load.ts";
import { StarButton } from "./star.tsx";

/** GET /organizations/:org/pipelines */
export const pipelinesPage = memberPage(async (services, request) => {
  const { organization, user } = request;
  const { list, pipelines, starredIds, builds, isArchived, hasArchived } = await loadPipelines(
    services,
    request,
  );
  const topics = pipelines.map(({ id }) => `pipeline:${id}` as const);
  const org = organization.slug;
  return {
    title: isArchived ? "Archived pipelines" : "Pipelines",
    section: "pipelines",
    topics: [`user:${user.id}`, ...topics],
    content: (
      <>
        <div class="heading">
          <h1>{isArchived ? "Archived pipelines" : "Pipelines"}</h1>
          <p class="actions">
            {isArchived && (
              <LinkButton
                kind="secondary"
                href={pathTo(patterns.pipelinesPage, { org })}
                text="Other pipelines"
              />
            )}
            <LinkButton href={pathTo(patterns.newPipelinePage, { org })} text="New pipeline" />
          </p>
        </div>
        <EntryList
          rows={pipelines}
          empty={isArchived ? "No pipeline is archived." : <NoPipeline org={org} />}
        >
          {(pipeline) => (
            <li key={pipeline.id} class="entry">
              {!isArchived && (
                <StarButton
                  pipeline={pipeline}
                  org={org}
                  isStarred={starredIds.has(pipeline.id)}
                  from="pipelines"
                />
              )}
              <h2>
                <a href={pathTo(patterns.pipelinePage, { org, slug: pipeline.slug })}>{titleOf(pipeline)}</a>
              </h2>
              {pipeline.tags && <p class="quiet">{pipeline.tags.join(", ")}</p>}
              <LastBuild org={org} pipeline={pipeline} build={builds.get(pipeline.id)} />
            </li>
          )}
        </EntryList>
        <NumberPager list={list} path={pathTo(patterns.pipelinesPage, { org })} />
        {hasArchived && !isArchived && (
          <p>
            <a href={`${pathTo(patterns.pipelinesPage, { org })}?archived=true`}>Archived pipelines</a>
          </p>
        )}
      </>
    ),
  };
});

function NoPipeline({ org }: { org: string }) {
  return (
    <>
      There is no pipeline yet. <a href={pathTo(patterns.newPipelinePage, { org })}>Create one</a>: it says
      what a build runs.
    </>
  );
}

function LastBuild({
  org,
  pipeline: { slug },
  build,
}: {
  org: string;
  pipeline: ListedPipeline;
  build: ListedBuild | undefined;
}) {
  if (!build) return <p class="quiet">No build yet</p>;
  return (
    <p class="last">
      <span class="states">
        <State state={build.state} isPaused={build.pausedQueueId !== null} />
      </span>{" "}
      <a href={pathTo(patterns.buildPage, { org, slug, number: String(build.number) })}>#{build.number}</a>{" "}
      <span>{firstLine(build.message)}</span>{" "}
      <span class="quiet">
        {build.startedAt && (
          <>
            <Work build={build} />
            {separator}
          </>
        )}
        <Time at={build.createdAt} />
      </span>
    </p>
  );
}
