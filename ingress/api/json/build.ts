import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import type { BuildDetails } from "../../../shared/builds/builds.ts";
import { buildEnvironment } from "../../../shared/builds/environment.ts";
import type { Cipher } from "../../../shared/crypto/cipher.ts";
import type { Config } from "../../../shared/runtime/config.ts";
import { api, web } from "../../../shared/urls.ts";
import * as field from "./fields.ts";
import { graphqlId } from "./graphql-id.ts";
import { pipelineSchema, presentPipeline } from "./pipeline.ts";
import { presentUserById, userSchema } from "./user.ts";

const jobSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    type: z.literal("script"),
    name: z.string().nullable(),
    state: z.enum(["scheduled", "assigned", "running", "passed", "failed", "canceled", "expired"]),
    command: z.string(),
    agent_query_rules: z.array(z.string()),
    cluster_id: field.id,
    cluster_queue_id: field.id,
    web_url: field.url,
    created_at: field.timestamp,
    scheduled_at: field.timestamp,
    started_at: field.timestamp.nullable(),
    finished_at: field.timestamp.nullable(),
    exit_status: z.int().nullable(),
  })
  .meta({ id: "Job" });

export const buildSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    url: field.url,
    web_url: field.url,
    number: z.int(),
    state: z.enum(["scheduled", "running", "passed", "failed", "canceled"]),
    blocked: z.boolean(),
    message: z.string(),
    commit: z.string(),
    branch: z.string(),
    env: z.record(z.string(), z.string()).meta({ description: "With the variables of its trigger" }),
    source: z.string(),
    creator: userSchema.nullable(),
    created_at: field.timestamp,
    scheduled_at: field.timestamp,
    started_at: field.timestamp.nullable(),
    finished_at: field.timestamp.nullable(),
    meta_data: z.record(z.string(), z.string()),
    pipeline: pipelineSchema.optional().meta({ description: "Not with exclude_pipeline=true" }),
    jobs: z.array(jobSchema).optional().meta({ description: "Not with exclude_jobs=true" }),
  })
  .meta({ id: "Build" });

export interface BuildContext {
  cipher: Cipher;
  config: Config;
  organization: Organization;
  /** At least the creators of the builds. */
  users: ReadonlyMap<string, User>;
}

export function presentBuild(
  { cipher, config, organization, users }: BuildContext,
  { build, pipeline, jobs, metaData }: BuildDetails,
  { hasJobs = true, hasPipeline = true } = {},
) {
  const address = { org: organization.slug, slug: pipeline.slug };
  const webUrl = web.build(config, address, build.number);
  return {
    id: build.id,
    graphql_id: graphqlId("Build", build.id),
    url: api.build(config, address, build.number),
    web_url: webUrl,
    number: build.number,
    state: build.state,
    blocked: false,
    message: build.message,
    commit: build.commit,
    branch: build.branch,
    env: buildEnvironment(cipher, build, address),
    source: build.source,
    creator: presentUserById(config, users, build.creatorId),
    created_at: build.createdAt,
    scheduled_at: build.createdAt,
    started_at: build.startedAt,
    finished_at: build.finishedAt,
    meta_data: metaData,
    ...(hasPipeline ? { pipeline: presentPipeline(config, organization, pipeline) } : {}),
    ...(hasJobs ? { jobs: jobs.map((each) => presentJob(each, webUrl)) } : {}),
  };
}

function presentJob({ job, queue }: BuildDetails["jobs"][number], buildWebUrl: string) {
  return {
    id: job.id,
    graphql_id: graphqlId("Job", job.id),
    type: "script",
    name: job.label,
    state: job.state,
    command: job.command,
    agent_query_rules: [`queue=${queue.key}`],
    cluster_id: queue.clusterId,
    cluster_queue_id: queue.id,
    web_url: `${buildWebUrl}#${job.id}`,
    created_at: job.createdAt,
    scheduled_at: job.createdAt,
    started_at: job.startedAt,
    finished_at: job.finishedAt,
    exit_status: job.exitStatus,
  };
}
