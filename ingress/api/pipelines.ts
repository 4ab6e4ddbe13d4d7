import { z } from "zod";
import type { Organization } from "../../shared/accounts/organization-store.ts";
import { slugProblems } from "../../shared/accounts/organizations.ts";
import { api, patterns, web } from "../../shared/paths.ts";
import {
  createPipeline,
  deletePipeline,
  requirePipeline,
  updatePipeline,
} from "../../shared/pipelines/pipelines.ts";
import { countPipelines, listPipelines, type Pipeline } from "../../shared/pipelines/store.ts";
import { notFound } from "../../shared/refusal.ts";
import type { Config } from "../../shared/runtime/config.ts";
import type { Services } from "../../shared/runtime/services.ts";
import { pipelineName, requiredText, text } from "../../shared/validation.ts";
import { linkPages, pageQuery, readPage } from "../http/number-pager.ts";
import * as field from "./json/fields.ts";
import { graphqlId } from "./json/graphql-id.ts";
import { type Call, type Operation, operation } from "./operation.ts";

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

/** Null is absent, and stored so. */
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
/** Text has a length too, but is no list of the wrong length. */
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

const createBody = z
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
const updateBody = z
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

const tag = "Pipelines";
const reading = { tag, scope: "read_pipelines" as const };
const writing = { tag, scope: "write_pipelines" as const };

export function pipelineOperations(services: Services): Operation[] {
  const { db, config } = services;
  return [
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.pipelines,
      id: "listPipelines",
      summary: "The pipelines of an organization, oldest first",
      query: pageQuery,
      success: { status: 200, schema: z.array(pipelineSchema), description: "A page of pipelines" },
      run: async ({ event, caller: { organization } }) => {
        const page = readPage(event);
        linkPages(event, page, await countPipelines(db, organization.id), config.baseUrl);
        const pipelines = await listPipelines(db, organization.id, page);
        return pipelines.map((pipeline) => presentPipeline(config, organization, pipeline));
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.pipelines,
      id: "createPipeline",
      summary: "Create a pipeline",
      body: { schema: createBody },
      success: { status: 201, schema: pipelineSchema, description: "The new pipeline" },
      refusals: ["Validation failed: …"],
      run: async ({ caller, actor, readBody }) => {
        const pipeline = await createPipeline(services, actor, await readBody());
        return presentPipeline(config, caller.organization, pipeline);
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.pipeline,
      id: "getPipeline",
      summary: "A pipeline",
      success: { status: 200, schema: pipelineSchema, description: "The pipeline" },
      run: async (call) =>
        presentPipeline(config, call.caller.organization, await pipelineOf(services, call)),
    }),
    operation({
      ...writing,
      methods: ["PUT", "PATCH"],
      path: patterns.pipeline,
      id: "updatePipeline",
      summary: "Change a pipeline; what is absent stays, and so does the slug",
      body: { schema: updateBody },
      success: { status: 200, schema: pipelineSchema, description: "The changed pipeline" },
      refusals: ["Validation failed: …"],
      run: async (call) => {
        const pipeline = await pipelineOf(services, call);
        const updated = await updatePipeline(services, call.actor, pipeline, await call.readBody());
        return presentPipeline(config, call.caller.organization, updated);
      },
    }),
    operation({
      ...writing,
      methods: ["DELETE"],
      path: patterns.pipeline,
      id: "deletePipeline",
      summary: "Delete a pipeline; its triggers go at once, its builds with time",
      success: { status: 204, description: "The pipeline is gone" },
      refusals: ["Pipeline has N unfinished jobs"],
      run: async (call) => deletePipeline(services, call.actor, await pipelineOf(services, call)),
    }),
  ];
}

/**
 * The pipeline that the path names.
 * @throws Refusal 404
 */
export async function pipelineOf(
  { db }: Services,
  { caller, parameter }: Pick<Call<unknown>, "caller" | "parameter">,
): Promise<Pipeline> {
  const slug = parameter("slug");
  if (slugProblems(slug).length > 0) throw notFound("pipeline");
  return requirePipeline(db, caller.organization.id, slug);
}

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
