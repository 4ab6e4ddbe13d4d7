import { z } from "zod";
import type { Organization } from "../accounts/organization-store.ts";
import type { User } from "../accounts/user-store.ts";
import type { Build } from "../builds/rows/build-store.ts";
import { givenEnvironment, ownEnvironment } from "../builds/rows/environment.ts";
import { isOfFork, pullRequestOf, tagOf } from "../builds/rows/facts.ts";
import type { Cipher } from "../crypto/cipher.ts";
import type { StepWarning } from "../db/schema/builds.ts";
import type { Config } from "../settings/config.ts";
import { api, web } from "../settings/urls.ts";
import {
  blockedBuildStates,
  type JobState,
  shownBuildStates,
  shownJobState,
  shownState,
} from "../vocabulary.ts";
import * as field from "./fields.ts";
import { graphqlId } from "./graphql-id.ts";
import { jobSchema } from "./job.ts";
import { pipelineSchema } from "./pipeline.ts";
import { timeText } from "./time-text.ts";
import { presentUserById, userSchema } from "./user.ts";

export const buildSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    url: field.url,
    web_url: field.url,
    number: z.int(),
    state: z.enum(shownBuildStates),
    blocked: z.boolean().meta({
      description: "It waits until somebody unblocks a step; state is then passed, failed or running",
    }),
    cancel_reason: z
      .string()
      .nullable()
      .meta({ description: "Of a build that a job or a newer build canceled: which it was" }),
    message: z.string(),
    commit: z.string(),
    branch: z.string(),
    tag: z.string().nullable(),
    env: z.record(z.string(), z.string()).meta({ description: "With the variables of its trigger" }),
    source: z.string(),
    author: z
      .object({ name: z.string().optional(), email: z.string().optional(), username: z.string().optional() })
      .nullable()
      .meta({ description: "Of the commit or the pull request, as its host or the build's creator says" }),
    creator: userSchema.nullable(),
    pull_request: z
      .object({
        id: z.string().meta({ description: "Its number" }),
        base: z.string().nullable(),
        repository: z
          .string()
          .nullable()
          .meta({ description: "The clone address of the repository that has its branch" }),
        title: z.string().nullable(),
        url: z.string().nullable(),
        labels: z.array(z.string()),
        draft: z.boolean(),
      })
      .nullable(),
    fork: z.boolean().meta({
      description: "It comes from a fork: its jobs get no secrets and no identity tokens",
    }),
    merge_queue: z.object({ base_branch: z.string(), base_commit: z.string() }).nullable(),
    triggered_from: z
      .object({ build_id: field.id, build_number: z.int(), build_pipeline_slug: z.string() })
      .nullable()
      .meta({ description: "The build whose trigger step made this one" }),
    rebuilt_from: z.object({ id: field.id, number: z.int(), url: field.url }).nullable(),
    created_at: field.timestamp,
    scheduled_at: field.timestamp,
    started_at: field.timestamp.nullable(),
    failing_at: field.timestamp
      .nullable()
      .meta({ description: "A job first failed then while others went on" }),
    finished_at: field.timestamp.nullable(),
    meta_data: z.record(z.string(), z.string()),
    job_state_counts: z
      .object({ total: z.int(), states: z.record(z.string(), z.int()) })
      .optional()
      .meta({ description: "Of a single build: its jobs by state, without those that were retried" }),
    warnings: z
      .array(field.stepWarning)
      .optional()
      .meta({ description: "Of a single build: members of its steps that have no effect here" }),
    pipeline: pipelineSchema.optional().meta({ description: "Not with exclude_pipeline=true" }),
    jobs: z.array(jobSchema).optional().meta({ description: "Not with exclude_jobs=true" }),
  })
  .meta({ id: "Build" });

/** The answer of what retried failed jobs. */
export const retriedBuildSchema = buildSchema
  .extend({ retried_jobs_count: z.int().meta({ description: "The number of jobs that were retried" }) })
  .meta({ id: "RetriedBuild" });

export interface BuildContext {
  cipher: Cipher;
  config: Config;
  organization: Organization;
  /** Users by id. Contains at least the creators of the presented builds. */
  users: ReadonlyMap<string, User>;
}

export interface BuildToPresent {
  build: Build;
  pipeline: { slug: string };
  metaData: Record<string, string>;
  rebuiltFrom: Pick<Build, "id" | "number"> | undefined;
}

/** Presents all of a build but its pipeline and its jobs, which may be large. */
export function presentBuild(
  { cipher, config, organization, users }: BuildContext,
  { build, pipeline, metaData, rebuiltFrom }: BuildToPresent,
) {
  const address = { org: organization.slug, slug: pipeline.slug };
  const given = givenEnvironment(cipher, build);
  const pullRequest = pullRequestOf(build, given, config.agentEnvPrefix);
  return {
    id: build.id,
    graphql_id: graphqlId("Build", build.id),
    url: api.build(config, address, build.number),
    web_url: web.build(config, address, build.number),
    number: build.number,
    state: shownState(build.state),
    blocked: blockedBuildStates.includes(build.state),
    cancel_reason: build.cancelReason,
    message: build.message,
    commit: build.commit,
    branch: build.branch,
    tag: tagOf(build, given, config.agentEnvPrefix) ?? null,
    env: { ...given, ...ownEnvironment(build, address) },
    source: build.source,
    author: build.author,
    creator: presentUserById(config, users, build.creatorId),
    pull_request: pullRequest
      ? {
          id: pullRequest.id,
          base: pullRequest.base_branch ?? null,
          repository: pullRequest.repository ?? null,
          title: pullRequest.title ?? null,
          url: pullRequest.url ?? null,
          labels: pullRequest.labels ?? [],
          draft: pullRequest.draft ?? false,
        }
      : null,
    fork: isOfFork(build),
    merge_queue: build.options?.merge_queue ?? null,
    triggered_from: presentTriggeredFrom(build),
    rebuilt_from: rebuiltFrom
      ? { ...rebuiltFrom, url: api.build(config, address, rebuiltFrom.number) }
      : null,
    created_at: timeText(build.createdAt),
    scheduled_at: timeText(build.createdAt),
    started_at: timeText(build.startedAt),
    failing_at: timeText(build.failingAt),
    finished_at: timeText(build.finishedAt),
    meta_data: metaData,
  };
}

function presentTriggeredFrom({ options }: Build) {
  if (!options?.triggered_from) return null;
  const { build_id, build_number, build_pipeline_slug } = options.triggered_from;
  return { build_id, build_number, build_pipeline_slug };
}

export interface BuildDetails {
  jobStates: { state: JobState; jobs: number }[];
  warnings: StepWarning[];
  retriedJobs?: number | undefined;
}

/** Members that only the answer about a single build has. */
export function presentBuildDetails({ jobStates, warnings, retriedJobs }: BuildDetails) {
  const states: Partial<Record<JobState, number>> = {};
  for (const { state, jobs } of jobStates) {
    const shown = shownJobState(state);
    states[shown] = (states[shown] ?? 0) + jobs;
  }
  return {
    job_state_counts: { total: jobStates.reduce((sum, { jobs }) => sum + jobs, 0), states },
    warnings,
    retried_jobs_count: retriedJobs,
  };
}
