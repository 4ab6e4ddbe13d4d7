import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import type { Config } from "../../../shared/runtime/config.ts";
import { api, web } from "../../../shared/urls.ts";
import { blankToNull, pipelineName, requiredText, text } from "../../../shared/validation.ts";
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
/** Null and blank count as absent. */
const optionalText = (name: string, maxLength: number) =>
  text(name, maxLength)
    .nullish()
    .transform((given) => blankToNull(given) ?? undefined);

const notRules = "Step agent_query_rules must be a list such as queue=default";
const rules = z.array(z.string({ error: notRules }), { error: notRules });
const queueRule = /^queue=(.*)$/;

/** The public Go client sends `name` and `agent_query_rules`. */
const step = z
  .object(
    {
      label: optionalText("Step label", 255),
      name: optionalText("Step name", 255).meta({ description: "Another name of label, which wins" }),
      command: requiredText("Step command", maxCommandLength),
      agents: nullable(
        z.object({ queue: optionalText("Step queue", 100) }, { error: "Step agents must be an object" }),
      ),
      agent_query_rules: nullable(rules).meta({ description: "Another way to name the queue: queue=<key>" }),
    },
    { error: "Steps must be objects" },
  )
  .transform(({ name, label = name, agents, agent_query_rules = [], ...rest }, context) => {
    const queues = agent_query_rules.map((rule) => queueRule.exec(rule)?.[1]);
    if (queues.includes(undefined))
      context.addIssue("Step agent_query_rules can only name a queue: queue=<key>");
    const named = new Set([agents?.queue, ...queues].filter((key) => key?.trim()));
    if (named.size > 1) context.addIssue("Step names more than one queue");
    const [queue] = named;
    return { ...rest, label, agents: queue === undefined ? agents : { queue } };
  });
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
const branch = optionalText("Default branch", 255);

export const createPipelineBody = z
  .object({
    name: pipelineName,
    slug: optionalText("Slug", 100).meta({ description: "Default: made of the name" }),
    cluster_id: cluster,
    default_branch: branch.meta({ description: "Default: main" }),
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
    default_branch: branch,
    steps: steps.optional(),
  })
  .transform(({ cluster_id, default_branch, ...rest }) => ({
    ...rest,
    clusterId: cluster_id,
    defaultBranch: default_branch,
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
    ...(given === undefined ? {} : { steps: steps.parse(given) }),
  };
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
