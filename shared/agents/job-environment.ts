import type { Organization } from "../accounts/organization-store.ts";
import type { User } from "../accounts/user-store.ts";
import { uploadedEnvironment } from "../builds/making/condition-facts.ts";
import { isFullCommit } from "../builds/meta-data/meta-data.ts";
import type { Build } from "../builds/rows/build-store.ts";
import { givenEnvironment, ownEnvironment } from "../builds/rows/environment.ts";
import { factsForAgents, isOfFork, tagOf } from "../builds/rows/facts.ts";
import type { Job } from "../builds/rows/job-store.ts";
import { stripControls } from "../control-characters.ts";
import type { Cipher } from "../crypto/cipher.ts";
import { type Environment, environmentOfPipeline } from "../pipelines/environment.ts";
import { timeoutMinutes } from "../pipelines/settings.ts";
import { defaultVariables } from "../pipelines/step/checkout.ts";
import { variablesOfStep } from "../pipelines/step/members.ts";
import type { PipelineFacts } from "../pipelines/store.ts";
import type { Config } from "../settings/config.ts";
import { web } from "../settings/urls.ts";
import { type ProviderId, providerForAgents } from "../sources/providers.ts";
import { checkoutFacts, withDepth } from "./checkout/variables.ts";
import { isProtected } from "./protected-names.ts";
import type { Agent } from "./store.ts";

export interface JobContext {
  config: Config;
  cipher: Cipher;
  organization: Organization;
  pipeline: PipelineFacts;
  /** Of the pipeline. */
  provider: ProviderId | null;
  build: Build;
  job: Job;
  /** Without an id, a name and a version, no agent has the job yet. */
  agent: Pick<Agent, "clusterId" | "metaData"> & Partial<Pick<Agent, "id" | "name" | "version">>;
  creator: User | undefined;
  rebuiltFrom: Pick<Build, "id" | "number"> | undefined;
  /** Undefined: it was deleted. */
  clusterName: string | undefined;
  /** Unblocked the last of the manual steps that the job is behind. Undefined: it is behind none. */
  unblocker: User | undefined;
  /** A job of the build has said what its commit is. */
  isCommitReported: boolean;
  /** The value of the secret that its checkout names. Absent for all but its agent. */
  sshKey?: string | undefined;
}

/**
 * The variables that an agent gets with a job. Later ones win: those of the pipeline, of the build, of the documents that
 * its jobs uploaded so far, of the step's checkout, of the step, then the server's own.
 */
export function jobEnvironment(context: JobContext): Environment {
  const { config, organization, pipeline, build, job } = context;
  const prefix = config.agentEnvPrefix;
  const own: Record<string, string | undefined> = {
    ...ownEnvironment(build, { org: organization.slug, slug: pipeline.slug }),
    SIGNALBOX_JOB_ID: job.id,
    CI: "true",
    [prefix]: "true",
    ...withPrefix(prefix, {
      ...buildFacts(context),
      ...jobFacts(job, build),
      TIMEOUT: String(timeoutMinutes(pipeline, job.options?.timeout_in_minutes) ?? false),
      ...unblockerFacts(context),
      ...agentFacts(context),
      ...checkoutFacts(context),
    }),
  };
  const isOwn = (name: string) => Object.hasOwn(own, name) || name.startsWith(`${prefix}_AGENT_META_DATA_`);
  const given = Object.entries(givenVariables(context)).filter(
    ([name]) => !isOwn(name) && !isProtected(prefix, name),
  );
  const ownEntries = Object.entries(own).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries([...given, ...ownEntries]);
}

/** The names that agents set themselves: variables of a pipeline, build or step that they do not get. */
export function unsentNames(context: Pick<JobContext, "config" | "cipher" | "pipeline" | "build" | "job">) {
  const names = Object.keys(givenVariables(context));
  return names.filter((name) => isProtected(context.config.agentEnvPrefix, name)).sort();
}

function givenVariables({
  config,
  cipher,
  pipeline,
  build,
  job,
}: Pick<JobContext, "config" | "cipher" | "pipeline" | "build" | "job">): Environment {
  const prefix = config.agentEnvPrefix;
  const { checkout, env } = job.options ?? {};
  const given = {
    ...environmentOfPipeline(cipher, pipeline),
    ...givenEnvironment(cipher, build),
    ...uploadedEnvironment(cipher, build),
    ...withPrefix(prefix, defaultVariables(checkout ?? {})),
    ...env,
  };
  return withDepth(given, prefix, checkout?.depth);
}

function withPrefix<Value>(prefix: string, facts: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [`${prefix}_${name}`, value]));
}

function buildFacts(context: JobContext) {
  const { config, cipher, organization, pipeline, provider, build, rebuiltFrom, isCommitReported } = context;
  const given = givenEnvironment(cipher, build);
  const { pullRequest, mergeQueue } = factsForAgents(build, given, config.agentEnvPrefix);
  const comparesWithBase = pipeline.providerSettings?.use_merge_group_base_commit_for_git_diff_base;
  // Commands may let somebody do more than others.
  const creator = isOfFork(build) ? undefined : context.creator;
  const triggeredFrom = build.options?.triggered_from;
  const address = { org: organization.slug, slug: pipeline.slug };
  return {
    ORGANIZATION_ID: organization.id,
    ORGANIZATION_SLUG: organization.slug,
    PIPELINE_ID: pipeline.id,
    PIPELINE_SLUG: pipeline.slug,
    PIPELINE_NAME: pipeline.name,
    PIPELINE_DEFAULT_BRANCH: pipeline.defaultBranch,
    PIPELINE_PROVIDER: providerForAgents(provider),
    GIT_REMOTE_MIRROR_URL: pipeline.cloneMirrorUrl ?? undefined,
    BUILD_ID: build.id,
    BUILD_NUMBER: String(build.number),
    BUILD_URL: web.build(config, address, build.number),
    BUILD_CREATOR: creator?.name,
    BUILD_CREATOR_EMAIL: creator?.email,
    BUILD_AUTHOR: build.author?.name ?? build.author?.username,
    BUILD_AUTHOR_EMAIL: build.author?.email,
    REBUILT_FROM_BUILD_ID: rebuiltFrom?.id ?? "",
    REBUILT_FROM_BUILD_NUMBER: rebuiltFrom ? String(rebuiltFrom.number) : "",
    TRIGGERED_FROM_BUILD_ID: triggeredFrom?.build_id ?? "",
    TRIGGERED_FROM_BUILD_NUMBER: triggeredFrom ? String(triggeredFrom.build_number) : "",
    TRIGGERED_FROM_BUILD_PIPELINE_SLUG: triggeredFrom?.build_pipeline_slug ?? "",
    BRANCH: build.branch,
    COMMIT: build.commit,
    // Agents then report it no more.
    COMMIT_RESOLVED: isCommitReported && isFullCommit(build.commit) ? "true" : undefined,
    MESSAGE: build.message,
    SOURCE: build.source,
    TAG: tagOf(build, given, config.agentEnvPrefix),
    // Agents take an absent variable for a pull request.
    PULL_REQUEST: pullRequest?.id ?? "false",
    PULL_REQUEST_BASE_BRANCH: pullRequest?.base_branch ?? "",
    PULL_REQUEST_REPO: pullRequest?.repository ?? "",
    PULL_REQUEST_LABELS: pullRequest?.labels?.join(",") ?? "",
    PULL_REQUEST_DRAFT: pullRequest?.draft ? "true" : undefined,
    REFSPEC: pullRequest?.refspec,
    MERGE_QUEUE_BASE_BRANCH: mergeQueue?.base_branch,
    MERGE_QUEUE_BASE_COMMIT: mergeQueue?.base_commit,
    GIT_DIFF_BASE: comparesWithBase ? mergeQueue?.base_commit : undefined,
    ...(build.options?.clean_checkout && { CLEAN_CHECKOUT: "true" }), // else a step may ask for it
  };
}

function jobFacts(job: Job, build: Build) {
  const { id, command, label, stepId, options, retriesCount, retryType } = job;
  // A parallel trigger tells the jobs of its builds apart.
  const parallel = options?.parallel ?? build.options?.triggered_from?.parallel;
  return {
    JOB_ID: id,
    COMMAND: command ?? "",
    LABEL: label ?? undefined,
    STEP_ID: stepId,
    GROUP_ID: options?.group?.id,
    GROUP_KEY: options?.group?.key,
    GROUP_LABEL: options?.group && (options.group.label ?? ""),
    PARALLEL_JOB: parallel && String(parallel.index),
    PARALLEL_JOB_COUNT: parallel && String(parallel.total),
    RETRY_COUNT: String(retriesCount),
    RETRY_TYPE: retryType ?? undefined,
    ...variablesOfStep(options),
  };
}

/** Without an unblocker they are absent, too: no caller may name one. */
function unblockerFacts({ unblocker }: JobContext): Record<string, string | undefined> {
  return {
    UNBLOCKER: unblocker?.name,
    UNBLOCKER_EMAIL: unblocker?.email,
    UNBLOCKER_ID: unblocker?.id,
    UNBLOCKER_TEAMS: unblocker && "",
  };
}

function agentFacts({ agent, clusterName }: JobContext) {
  const tags = agent.metaData.map((tag) => {
    const [, key = tag, value = ""] = /^([^=]*)=(.*)$/s.exec(tag) ?? [];
    return [`AGENT_META_DATA_${key.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`, value] as const;
  });
  return {
    CLUSTER_ID: agent.clusterId,
    CLUSTER_NAME: clusterName,
    AGENT_ID: agent.id,
    AGENT_NAME: agent.name === undefined ? undefined : stripControls(agent.name) || agent.id,
    COMPUTE_TYPE: "self-hosted",
    ...Object.fromEntries(tags),
  };
}
