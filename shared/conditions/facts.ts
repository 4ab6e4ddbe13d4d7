import type { Facts } from "./names.ts";

interface Person {
  id: string | null;
  name: string | null;
  email: string | null;
}

interface PullRequest {
  id: string;
  baseBranch: string | null;
  isDraft: boolean;
  /** The label that was just set or removed, if the build is of that. */
  label: string | null;
  labels: readonly string[];
  repository: string | null;
  isFork: boolean;
}

/** A build as conditions see it, when its steps enter it or one of its events happens. */
export interface BuildOfCondition {
  id: string;
  number: number;
  /** For a build of a tag the tag. */
  branch: string;
  commit: string;
  message: string;
  tag: string | null;
  source: string;
  state: string;
  /** The event and its action, if a webhook asked for the build. */
  sourceEvent: string | null;
  sourceAction: string | null;
  author: Person | null;
  creator: Person | null;
  pullRequest: PullRequest | null;
  mergeQueue: { baseBranch: string; baseCommit: string } | null;
  /** It comes of a fork, with or without its pull request. */
  isOfFork: boolean;
  /** Its request and merge queue are about another commit: its variables do not tell of them. */
  isOfOtherCommit: boolean;
  triggeredFrom: { id: string; number: number; pipelineSlug: string } | null;
  rebuiltFrom: { id: string; number: number } | null;
}

export interface ConditionContext {
  build: BuildOfCondition;
  pipeline: { id: string; slug: string; name: string; defaultBranch: string; repository: string | null };
  organization: { id: string; slug: string };
  /**
   * The variables of the build: those of its pipeline and creator, then those of the documents that were uploaded so far,
   * this one included. Not those of a step.
   */
  variables: Readonly<Record<string, string>>;
  /** `AGENT_ENV_PREFIX`. */
  prefix: string;
}

/** Makes the facts of a build, which conditions of steps and notifications ask for. Organizations have no teams. */
export function factsOfBuild(context: ConditionContext): Facts {
  const { variables, prefix } = context;
  const own = ownVariables(context);
  const start = `${prefix}_`;
  return {
    values: valuesOf(context),
    env(name) {
      const ownName = name.startsWith(start) ? name.slice(start.length) : "";
      const given = Object.hasOwn(variables, name) ? variables[name] : undefined;
      return (Object.hasOwn(own, ownName) ? own[ownName] : undefined) ?? given ?? null;
    },
  };
}

function valuesOf({ build, pipeline, organization }: ConditionContext): Facts["values"] {
  const { author, creator, pullRequest, mergeQueue, isOfFork } = build;
  return {
    "build.id": build.id,
    "build.number": build.number,
    "build.branch": build.branch,
    "build.commit": build.commit,
    "build.message": build.message,
    "build.tag": build.tag,
    "build.source": build.source,
    "build.state": build.state,
    "build.source_event": build.sourceEvent,
    "build.source_action": build.sourceAction,
    "build.author.id": author?.id ?? null,
    "build.author.name": author?.name ?? null,
    "build.author.email": author?.email ?? null,
    "build.author.teams": [],
    "build.creator.id": creator?.id ?? null,
    "build.creator.name": creator?.name ?? null,
    "build.creator.email": creator?.email ?? null,
    "build.creator.teams": [],
    "build.merge_queue.base_branch": mergeQueue?.baseBranch ?? null,
    "build.merge_queue.base_commit": mergeQueue?.baseCommit ?? null,
    "build.pull_request.id": pullRequest?.id ?? null,
    "build.pull_request.base_branch": pullRequest?.baseBranch ?? null,
    "build.pull_request.draft": pullRequest?.isDraft ?? null,
    "build.pull_request.label": pullRequest?.label ?? null,
    "build.pull_request.labels": pullRequest?.labels ?? [],
    "build.pull_request.repository": pullRequest?.repository ?? null,
    "build.pull_request.repository.fork": isOfFork || (pullRequest?.isFork ?? null),
    "pipeline.id": pipeline.id,
    "pipeline.slug": pipeline.slug,
    "pipeline.default_branch": pipeline.defaultBranch,
    "pipeline.repository": pipeline.repository,
    "organization.id": organization.id,
    "organization.slug": organization.slug,
  };
}

/**
 * The server's own variables that conditions can read, without their prefix. They win over those of the build, unless
 * they are null.
 */
function ownVariables({ build, pipeline, organization }: ConditionContext): Record<string, string | null> {
  const { triggeredFrom, rebuiltFrom, isOfOtherCommit } = build;
  const { pullRequest, mergeQueue } = isOfOtherCommit ? { pullRequest: null, mergeQueue: null } : build;
  return {
    BRANCH: build.branch,
    TAG: build.tag,
    MESSAGE: build.message,
    COMMIT: build.commit,
    PIPELINE_SLUG: pipeline.slug,
    PIPELINE_NAME: pipeline.name,
    PIPELINE_ID: pipeline.id,
    ORGANIZATION_SLUG: organization.slug,
    REPO: pipeline.repository,
    PULL_REQUEST: pullRequest?.id ?? "false",
    PULL_REQUEST_BASE_BRANCH: pullRequest?.baseBranch ?? "",
    PULL_REQUEST_REPO: pullRequest?.repository ?? "",
    MERGE_QUEUE_BASE_BRANCH: mergeQueue?.baseBranch ?? null,
    MERGE_QUEUE_BASE_COMMIT: mergeQueue?.baseCommit ?? null,
    TRIGGERED_FROM_BUILD_ID: triggeredFrom?.id ?? "",
    TRIGGERED_FROM_BUILD_NUMBER: triggeredFrom ? String(triggeredFrom.number) : "",
    TRIGGERED_FROM_BUILD_PIPELINE_SLUG: triggeredFrom?.pipelineSlug ?? "",
    REBUILT_FROM_BUILD_ID: rebuiltFrom?.id ?? "",
    REBUILT_FROM_BUILD_NUMBER: rebuiltFrom ? String(rebuiltFrom.number) : "",
  };
}
