import type { ComponentChildren } from "preact";
import { hasAuthor } from "../../../shared/builds/rows/facts.ts";
import { finalWorkMs } from "../../../shared/builds/rows/work.ts";
import { msInWords, secondMs } from "../../../shared/durations.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { excerpt } from "../../../shared/refusal.ts";
import { buildPath } from "../address/build.ts";
import { Commit } from "../commits/commit.tsx";
import { mendStepsPath, type StepsSources } from "../commits/steps-source.tsx";
import { TriggeredBy } from "../job-facts/triggered.tsx";
import { StateIcon, stateInWords } from "../states/state.tsx";
import { MoreMenu, PostButton } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { RequestName } from "./facts.tsx";
import { Headline } from "./headline.tsx";
import { retryHint } from "./jobs.tsx";
import type { LoadedBuild } from "./load.ts";
import { mayUnblock } from "./unblock.tsx";
import { halfTimeOf } from "./usual.ts";

interface HeadProps {
  data: LoadedBuild;
  request: MemberRequest;
}

const maxLine = 200;

/** Two lines that stay in sight: what the build is, and what can be done with it. */
export function Head({ data, sources, request }: HeadProps & { sources: StepsSources }) {
  const { build, pipeline, pausedQueues } = data;
  const [line = "", ...rest] = build.message.split("\n");
  const isLong = rest.some((each) => each.trim() !== "") || line.length > maxLine;
  const paused = pausedQueues.length > 0 ? " paused" : "";
  return (
    <header data-part="" class="build-head">
      <div class="title">
        <StateIcon state={build.state} />
        <h1>
          <span>{pipeline.name}</span> #{build.number}
          <span class="hidden">
            {" "}
            {stateInWords(build.state)}
            {paused}
          </span>
        </h1>
        {isLong ? (
          <details class="message" id="message">
            <summary>{excerpt(line, maxLine)}</summary>
            <p>{build.message}</p>
          </details>
        ) : (
          <p class="message">{line}</p>
        )}
        <Actions data={data} sources={sources} request={request} />
      </div>
      <Line parts={[...sourcesOf({ data, request }), <Headline key="ran" build={build} />, usualOf(data)]}>
        <Neighbors data={data} request={request} />
      </Line>
    </header>
  );
}

function Line({ parts, children }: { parts: ComponentChildren[]; children: ComponentChildren }) {
  return (
    <div class="line">
      {parts.filter(Boolean).map((part, index) => (
        <span key={index}>{part}</span>
      ))}
      {children}
    </div>
  );
}

const sourceWords: Record<string, string> = {
  webhook: "a webhook",
  trigger_job: "a step",
  schedule: "a schedule",
};

/** The branch, commit and people of a build. */
function sourcesOf({ data, request }: HeadProps): ComponentChildren[] {
  const { build, source: repository, trigger, tag, pullRequest } = data;
  const { branch, commit, source, deliveryId } = build;
  const people = peopleInWords(data);
  const from = build.options?.triggered_from;
  const at = { org: request.organization.slug, slug: request.parameter("slug") };
  const branchPath = `${pathTo(patterns.pipelinePage, at)}?${new URLSearchParams({ branch })}`;
  const delivery =
    trigger && deliveryId && !trigger.deletedAt
      ? pathTo(patterns.deliveryPage, { ...at, trigger: trigger.id, delivery: deliveryId })
      : undefined;
  return [
    pullRequest && <RequestName pullRequest={pullRequest} />,
    tag !== undefined ? `tag ${tag}` : <a href={branchPath}>{branch}</a>,
    <Commit key="commit" commit={commit} source={repository} />,
    people && `by ${people}`,
    from && (
      <>
        triggered by <TriggeredBy from={from} jobId={build.triggeredByJobId} request={request} />
      </>
    ),
    delivery ? (
      <>
        from <a href={delivery}>a webhook</a>
      </>
    ) : (
      !from && sourceWords[source] && `from ${sourceWords[source]}`
    ),
  ];
}

/** The author of the commit, and the member who started the build, if that is another: `Ada, started by Bob`. */
function peopleInWords({ build, users }: LoadedBuild): string | undefined {
  const { author, creatorId } = build;
  const creator = users.get(creatorId ?? "");
  const name = author?.name ?? author?.username ?? author?.email;
  if (!creator || name === undefined) return creator?.name ?? name;
  const isSame = name === creator.name || hasAuthor(build, creator.email);
  return isSame ? creator.name : `${name}, started by ${creator.name}`;
}

/** `38 s slower than the median of the last 50`. */
function usualOf({ build, lastBuilds }: LoadedBuild): string | undefined {
  const half = halfTimeOf(lastBuilds);
  const worked = finalWorkMs(build);
  if (half === undefined || worked === undefined || !["passed", "failed"].includes(build.state))
    return undefined;
  const more = worked - half;
  if (Math.abs(more) < secondMs) return undefined;
  const length = msInWords(Math.abs(more));
  return `${length} ${more > 0 ? "slower" : "faster"} than the median of the last ${lastBuilds.length}`;
}

function Neighbors({ data: { neighbors, lastPassed }, request }: HeadProps) {
  const { previous, next } = neighbors;
  const pathOf = (number: number) =>
    pathTo(patterns.buildPage, {
      org: request.organization.slug,
      slug: request.parameter("slug"),
      number: String(number),
    });
  if (previous === undefined && next === undefined) return null;
  return (
    <nav aria-label="Builds of the branch">
      {previous !== undefined && (
        <a href={pathOf(previous)} rel="prev" aria-label={`Previous build of the branch, ${previous}`}>
          ‹ {previous}
        </a>
      )}
      {next !== undefined && (
        <a href={pathOf(next)} rel="next" aria-label={`Next build of the branch, ${next}`}>
          {next} ›
        </a>
      )}
      {lastPassed && <a href={buildPath(request, patterns.compareBuildPage)}>Compare</a>}
    </nav>
  );
}

/** One main button, then the others. A failed build is retried, unless its steps were edited since. */
function Actions({ data, sources, request }: HeadProps & { sources: StepsSources }) {
  const { build, pipeline, failedJobs, unblockable } = data;
  const isCancelable = !build.finishedAt && build.state !== "canceling";
  const hasRetry = failedJobs > 0 && ["failed", "failing", "blocked_failed"].includes(build.state);
  const isBlocked = !hasRetry && unblockable.some((job) => mayUnblock(job, request));
  const canRebuild = pipeline.allowRebuilds && !pipeline.archivedAt;
  const isRebuildFirst = hasRetry && sources.areEdited && canRebuild;
  const cancel = (className: string) => (
    <PostButton path={buildPath(request, patterns.cancelBuildPage)} class={className}>
      Cancel build
    </PostButton>
  );
  const rebuild = (
    <PostButton
      path={buildPath(request, patterns.rebuildBuildPage)}
      {...(!isRebuildFirst && { class: "secondary" })}
      title="Makes a new build of this commit, by the pipeline’s present steps"
    >
      Rebuild
    </PostButton>
  );
  return (
    <div class="actions">
      {isRebuildFirst && rebuild}
      {hasRetry && (
        <PostButton
          path={buildPath(request, patterns.retryFailedJobsPage)}
          {...(isRebuildFirst && { class: "secondary" })}
          title={retryHint}
        >
          {failedJobs === 1 ? "Retry failed job" : `Retry ${failedJobs} failed jobs`}
        </PostButton>
      )}
      {isBlocked && (
        <a class="button" href="#unblock">
          Unblock
        </a>
      )}
      {isCancelable && !hasRetry && !isBlocked && cancel("danger")}
      {canRebuild && !isRebuildFirst && rebuild}
      <MoreMenu>
        <nav aria-label="More">
          <a href={buildPath(request, patterns.artifactsPage)}>Artifacts</a>
          <a href="#environment">Environment</a>
          <a href={mendStepsPath(request, sources)}>Edit steps</a>
          {data.payloadBytes !== undefined && (
            <a href={buildPath(request, patterns.payloadPage)} download>
              Payload of the webhook
            </a>
          )}
          {isCancelable && (hasRetry || isBlocked) && cancel("danger")}
        </nav>
      </MoreMenu>
    </div>
  );
}
