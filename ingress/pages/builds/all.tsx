import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import type { Topic } from "../../../shared/redis/events.ts";
import { eventsPath } from "../ui/live.ts";
import { memberPage } from "../ui/member-page.ts";
import type { ListedBuild } from "./list.tsx";
import { loadBuildSearch, SearchedBuilds } from "./search.tsx";

/** GET /organizations/:org/builds: of all pipelines. */
export function buildsPage(services: Services) {
  return memberPage(services, async (request) => {
    const { organization, visitor } = request;
    const found = await loadBuildSearch(services, request);
    const org = organization.slug;
    return {
      title: "Builds",
      within: { organization, section: "builds" },
      script: "copy.js",
      events: eventsPath(services, visitor, {
        organizations: [organization],
        topics: topicsOf(found.builds),
      }),
      content: (
        <>
          <h1>Builds</h1>
          <SearchedBuilds
            found={found}
            path={pathTo(patterns.buildsPage, { org })}
            org={org}
            now={services.clock.now()}
            namesPipeline
            none={
              <>
                No build yet. The pages of <a href={pathTo(patterns.pipelinesPage, { org })}>pipelines</a>{" "}
                make builds, and so do their triggers.
              </>
            }
          />
        </>
      ),
    };
  });
}

function topicsOf(builds: ListedBuild[]): Topic[] {
  const topics = builds.flatMap(({ build }): Topic[] => [
    `build:${build.id}`,
    `pipeline:${build.pipelineId}`,
  ]);
  return [...new Set(topics)];
}
