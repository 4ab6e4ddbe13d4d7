import type { ListedBuild } from "../../../shared/builds/rows/build-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import { Commit, type SourceRepository } from "../commits/commit.tsx";
import { State } from "../states/state.tsx";
import { BuildName, separator } from "../ui/tables.tsx";
import { Time, Work } from "../ui/times.tsx";
import { RequestName } from "./facts.tsx";

export interface PlacedBuild {
  build: ListedBuild;
  pipeline: Pick<Pipeline, "slug" | "name">;
  source: SourceRepository;
  /** Undefined: nobody, such as a webhook. */
  creator: string | undefined;
}

/** @param namesPipeline for builds of several pipelines */
export function BuildList({
  builds,
  org,
  namesPipeline = false,
}: {
  builds: PlacedBuild[];
  org: string;
  namesPipeline?: boolean;
}) {
  return (
    <ul class="builds">
      {builds.map(({ build, pipeline, source, creator }) => (
        <li key={build.id}>
          <span>
            <State state={build.state} isPaused={build.pausedQueueId !== null} />
          </span>
          <span class="what">
            <a href={pathTo(patterns.buildPage, { org, slug: pipeline.slug, number: String(build.number) })}>
              {namesPipeline ? (
                <BuildName pipeline={pipeline.name} number={build.number} />
              ) : (
                `#${build.number}`
              )}
            </a>
            <span class="message">
              {build.options?.pull_request && (
                <>
                  <RequestName pullRequest={build.options.pull_request} />:{" "}
                </>
              )}
              {firstLine(build.message)}
            </span>
          </span>
          <span class="source">
            <SourceOf build={build} />
            <Commit commit={build.commit} source={source} />
          </span>
          <span class="quiet">
            {build.startedAt && (
              <>
                <Work build={build} />
                {separator}
              </>
            )}
            <Time at={build.createdAt} />
            {creator !== undefined && <span class="creator"> by {creator}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** `tag v1.0`, `queue/main into main`, `main of a fork`. */
function SourceOf({ build: { branch, options } }: { build: ListedBuild }) {
  const { tag, merge_queue, is_fork } = options ?? {};
  return (
    <>
      <span class="branch">
        {tag !== undefined && "tag "}
        {branch}
      </span>
      {merge_queue && <span class="quiet">into {merge_queue.base_branch}</span>}
      {is_fork && <span class="quiet">of a fork</span>}
    </>
  );
}

const maxMessage = 200;

/** A message has up to 10,000 characters. */
export function firstLine(message: string): string {
  const [line = ""] = message.split("\n", 1);
  return [...line.slice(0, 2 * maxMessage)].slice(0, maxMessage).join("");
}
