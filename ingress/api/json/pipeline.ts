import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { Cipher } from "../../../shared/crypto/cipher.ts";
import { environmentSchema, openEnvironmentIfPossible } from "../../../shared/pipelines/environment.ts";
import { pipelineSteps } from "../../../shared/pipelines/steps.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import type { Config } from "../../../shared/runtime/config.ts";
import { api, web } from "../../../shared/urls.ts";
import {
  blankToNull,
  optionalText,
  pipelineName,
  repository,
  requiredText,
} from "../../../shared/validation.ts";
import * as field from "./fields.ts";
import { graphqlId } from "./graphql-id.ts";

const commandStepSchema = z
  .object({
    label: z.string().optional(),
    command: z.string(),
    agents: z.object({ queue: z.string().optional() }).optional(),
    key: z.string().optional(),
    env: z.record(z.string(), z.string()).optional(),
    timeout_in_minutes: z.int().optional(),
    soft_fail: z
      .union([z.boolean(), z.array(z.int())])
      .optional()
      .meta({ description: "True, or the exit statuses after which the build passes" }),
    retry: z
      .object({
        automatic: z
          .array(z.object({ exit_status: z.union([z.literal("*"), z.array(z.int())]), limit: z.int() }))
          .optional(),
        manual: z
          .object({ allowed: z.boolean(), permit_on_passed: z.boolean(), reason: z.string().optional() })
          .optional(),
      })
      .optional(),
    parallelism: z.int().optional(),
    plugins: z.array(z.unknown()).optional(),
  })
  .meta({ id: "CommandStep" });
const waitStepSchema = z
  .object({ type: z.literal("wait"), continue_on_failure: z.boolean().optional() })
  .meta({ id: "WaitStep" });

export const pipelineSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    url: field.url,
    web_url: field.url,
    name: z.string(),
    slug: z.string(),
    cluster_id: field.id,
    default_branch: z.string(),
    repository: z.string().nullable(),
    env: z.record(z.string(), z.string()).meta({ description: "Variables of every build" }),
    steps: z.array(z.union([commandStepSchema, waitStepSchema])),
    created_at: field.timestamp,
  })
  .meta({ id: "Pipeline" });

const cluster = requiredText("Cluster", 100);
const branch = optionalText("Default branch", 255);
const env = environmentSchema("Env").nullish().meta({
  description:
    "Variables of every build; replaces the whole set. Tokens with the scope read_pipelines can read them: do not put secrets here",
});
const repositoryAddress = repository.meta({ description: "An address that agents clone. Null: none" });

export const createPipelineBody = z
  .object({
    name: pipelineName,
    slug: optionalText("Slug", 100).meta({ description: "Default: made of the name" }),
    cluster_id: cluster,
    default_branch: branch.meta({ description: "Default: main" }),
    repository: repositoryAddress,
    env,
    steps: pipelineSteps,
  })
  .transform(({ cluster_id, default_branch, env, ...rest }) => ({
    ...rest,
    clusterId: cluster_id,
    defaultBranch: default_branch,
    environment: env ?? undefined,
  }));
export const updatePipelineBody = z
  .object({
    name: pipelineName.optional(),
    cluster_id: cluster.optional(),
    default_branch: branch,
    repository: repositoryAddress,
    env,
    steps: pipelineSteps.optional(),
  })
  .transform(({ cluster_id, default_branch, env, ...rest }) => ({
    ...rest,
    clusterId: cluster_id,
    defaultBranch: default_branch,
    environment: env ?? undefined,
  }));

/** The members that `newPipelineProblems` and `pipelineChangeProblems` check. */
export function checkedMembers(sound: {
  name?: string;
  slug?: string | null;
  cluster_id?: string;
  steps?: unknown;
}) {
  const { name, slug, cluster_id, steps: given } = sound;
  return {
    ...(name === undefined ? {} : { name }),
    ...(slug === undefined ? {} : { slug: blankToNull(slug) ?? undefined }),
    ...(cluster_id === undefined ? {} : { clusterId: cluster_id }),
    ...(given === undefined ? {} : { steps: pipelineSteps.parse(given) }),
  };
}

export function presentPipeline(
  { config, cipher }: { config: Config; cipher: Cipher },
  organization: Organization,
  pipeline: Pipeline,
) {
  const address = { org: organization.slug, slug: pipeline.slug };
  return {
    id: pipeline.id,
    graphql_id: graphqlId("Pipeline", pipeline.id),
    url: api.pipeline(config, address),
    web_url: web.pipeline(config, address),
    name: pipeline.name,
    slug: pipeline.slug,
    cluster_id: pipeline.clusterId,
    default_branch: pipeline.defaultBranch,
    repository: pipeline.repository,
    env: openEnvironmentIfPossible(cipher, pipeline.environmentSealed),
    steps: pipeline.steps,
    created_at: pipeline.createdAt,
  };
}
