import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import type { Config } from "../../../shared/runtime/config.ts";
import { api, web } from "../../../shared/urls.ts";
import { pipelineName, requiredText, text } from "../../../shared/validation.ts";
import * as field from "./fields.ts";
import { graphqlId } from "./graphql-id.ts";

const stepSchema = z.object({
  label: z.string().optional(),
  command: z.string(),
  agents: z.object({ queue: z.string().optional() }).optional(),
});

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
    steps: z.array(stepSchema),
    created_at: field.timestamp,
  })
  .meta({ id: "Pipeline" });

const maxSteps = 100;
const maxCommandLength = 65_536;

/** Null counts as absent. */
const nullable = <T>(schema: z.ZodType<T>) => schema.nullish().transform((given) => given ?? undefined);

const step = z.object(
  {
    label: nullable(text("Step label", 255)),
    command: requiredText("Step command", maxCommandLength),
    agents: nullable(
      z.object({ queue: nullable(text("Step queue", 100)) }, { error: "Step agents must be an object" }),
    ),
  },
  { error: "Steps must be objects" },
);
/** Checks the length of lists only: text has a length too. */
const ofList = { when: ({ value }: { value: unknown }) => Array.isArray(value) };
const steps = z
  .array(step, {
    error: ({ input }) =>
      input === undefined || input === null ? "Steps can't be blank" : "Steps must be a list",
  })
  .min(1, { error: "Steps can't be blank", ...ofList })
  .max(maxSteps, { error: `Steps can be ${maxSteps} at most`, ...ofList });
const cluster = requiredText("Cluster", 100);
const branch = requiredText("Default branch", 255);

export const createPipelineBody = z
  .object({
    name: pipelineName,
    slug: nullable(text("Slug", 100)).meta({ description: "Default: made of the name" }),
    cluster_id: cluster,
    default_branch: nullable(branch).meta({ description: "Default: main" }),
    steps,
  })
  .transform(({ cluster_id, default_branch, ...rest }) => ({
    ...rest,
    clusterId: cluster_id,
    defaultBranch: default_branch,
  }));
export const updatePipelineBody = z
  .object({
    name: pipelineName.optional(),
    cluster_id: cluster.optional(),
    default_branch: nullable(branch),
    steps: steps.optional(),
  })
  .transform(({ cluster_id, default_branch, ...rest }) => ({
    ...rest,
    clusterId: cluster_id,
    defaultBranch: default_branch,
  }));

export function presentPipeline(config: Config, organization: Organization, pipeline: Pipeline) {
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
    steps: pipeline.steps,
    created_at: pipeline.createdAt,
  };
}
