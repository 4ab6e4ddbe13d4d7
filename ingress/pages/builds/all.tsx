import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Topic } from "../../../shared/redis/events.ts";
import { loadWeek, Week } from "../charts/builds.tsx";
import { memberPage } from "../ui/member-page.ts";
import type { PlacedBuild } from "./list.tsx";
import { loadBuildSearch, SearchedBuilds } from "./search.tsx";

/** GET /organizations/:org/builds: of all pipelines. */
export const buildsPage = memberPage(async (services, request) => {
  const { organization } = request;
  const found = await loadBuildSearch(services, request);
  const week = found.isSearching ? undefined : await loadWeek(services, organization);
  const org = organization.slug;
  return {
    title: "Builds",
    section: "builds",
    script: "copy.js",
    topics: topicsOf(found.builds),
    content: (
      <>
        <h1>Builds</h1>
        {week && <Week week={week} />}
        <SearchedBuilds
          found={found}
          path={pathTo(patterns.buildsPage, { org })}
          org={org}
          namesPipeline
          none={
            <>
              No build yet. The pages of <a href={pathTo(patterns.pipelinesPage, { org })}>pipelines</a> make
              builds, and so do their triggers.
            </>
          }
        />
      </>
    ),
  };
});

function topicsOf(builds: PlacedBuild[]): Topic[] {
  const topics = builds.flatMap(({ build }): Topic[] => [
    `build:${build.id}`,
    `pipeline:${build.pipelineId}`,
  ]);
  return [...new Set(topics)];
}
