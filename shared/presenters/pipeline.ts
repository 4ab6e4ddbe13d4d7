import { z } from "zod";
import type { Organization } from "../accounts/organization-store.ts";
import type { User } from "../accounts/user-store.ts";
import type { PipelineCounts } from "../builds/reading/pipeline-counts-store.ts";
import type { Cipher } from "../crypto/cipher.ts";
import { maxCounted } from "../db/list-page.ts";
import { presentMembers, shownOf } from "../members/answers.ts";
import type { UnparsedPipeline } from "../pipelines/answer-store.ts";
import { environmentOfPipeline } from "../pipelines/environment.ts";
import { pipelineMembers } from "../pipelines/members.ts";
import { storedBy } from "../pipelines/step/declaration.ts";
import { manualMembers } from "../pipelines/step/manual.ts";
import { commandMembers, groupMembers, waitMembers } from "../pipelines/step/members.ts";
import { triggerMembers } from "../pipelines/step/trigger.ts";
import type { Pipeline } from "../pipelines/store.ts";
import type { Config } from "../settings/config.ts";
import { api, web } from "../settings/urls.ts";
import { openSlices, type TakeSlice } from "../sharing/resources.ts";
import type { Step } from "../vocabulary.ts";
import * as field from "./fields.ts";
import { graphqlId } from "./graphql-id.ts";
import { presentProvider, providerSchema, type ShownProviders } from "./provider.ts";
import { presentSteps } from "./readable-step.ts";
import { presentUserById, userSchema } from "./user.ts";

const branchConfiguration = z.string().nullable().meta({ description: "As branches" });
const parallelism = z.int().nullable();

/** Members that nothing reads stand beside the others. */
const commandStepSchema = z
  .looseObject({
    type: z.literal("script"),
    name: z.string().nullable().meta({ description: "As label" }),
    ...storedBy(commandMembers),
    command: commandMembers.command.stored,
    artifact_paths: commandMembers.artifact_paths.stored.nullable(),
    branch_configuration: branchConfiguration,
    env: commandMembers.env.stored,
    timeout_in_minutes: commandMembers.timeout_in_minutes.stored.nullable(),
    agent_query_rules: z
      .array(z.string())
      .meta({ description: "As agents: the queue, then <tag>=<value>, or <tag> for any value" }),
    concurrency: z.int().nullable(),
    parallelism,
  })
  .meta({ id: "CommandStep" });
const waitStepSchema = z
  .looseObject({
    type: z.literal("waiter"),
    ...storedBy(waitMembers),
    branch_configuration: branchConfiguration.optional(),
  })
  .meta({ id: "WaitStep" });
const manualStepSchema = z
  .looseObject({
    type: z.enum(["manual", "input"]),
    ...storedBy(manualMembers("block")),
    branch_configuration: branchConfiguration.optional(),
  })
  .meta({ id: "ManualStep" });
const triggerStepSchema = z
  .looseObject({
    type: z.literal("trigger"),
    ...storedBy(triggerMembers),
    trigger: triggerMembers.trigger.stored,
    pipeline: z.string().meta({ description: "As trigger" }),
    build: z.looseObject({
      message: z.string().nullable(),
      branch: z.string().nullable(),
      commit: z.string().nullable(),
      env: z.record(z.string(), z.string()).nullable(),
      meta_data: z.record(z.string(), z.string()).optional(),
    }),
    async: z.boolean(),
    branch_configuration: branchConfiguration,
    concurrency: z.null(),
    parallelism,
  })
  .meta({ id: "TriggerStep" });
const plainStepSchemas = [commandStepSchema, waitStepSchema, manualStepSchema, triggerStepSchema] as const;
const groupStepSchema = z
  .looseObject({
    type: z.literal("group"),
    ...storedBy(groupMembers),
    branch_configuration: branchConfiguration.optional(),
    steps: z.array(z.union(plainStepSchemas)),
  })
  .meta({ id: "GroupStep" });

const counted = z
  .int()
  .min(0)
  .max(maxCounted)
  .optional()
  .meta({
    description: `Not in a build's pipeline. At most ${maxCounted.toLocaleString("en")} are counted`,
  });

export const pipelineSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    url: field.url,
    web_url: field.url,
    ...shownOf(pipelineMembers),
    provider: providerSchema,
    builds_url: field.url,
    badge_url: field.url.meta({
      description:
        "A picture of the last result on the default branch, or on that of ?branch=. Whoever knows the address can read it",
    }),
    steps: z.array(z.union([...plainStepSchemas, groupStepSchema])),
    scheduled_builds_count: counted,
    running_builds_count: counted,
    scheduled_jobs_count: counted,
    running_jobs_count: counted,
    waiting_jobs_count: counted,
    created_by: userSchema,
    created_at: field.timestamp,
    archived_at: field.timestamp.nullable().meta({ description: "It makes no builds since then" }),
  })
  .meta({ id: "Pipeline" });

/** Steps of so many characters are written in a turn of the event loop. */
const writtenAtOnce = 64 * 1024;

export interface PipelineContext {
  config: Config;
  cipher: Cipher;
  /** Users by id. Contains at least those who created the presented pipelines. */
  users: ReadonlyMap<string, User>;
  providers: ShownProviders;
}

type WithCounts<Facts> = Facts & { counts?: PipelineCounts | undefined };

/** Takes turns for the steps of pipelines that are written one after the other. A few small ones need none. */
export function openStepSlices(): TakeSlice {
  return openSlices(writtenAtOnce, { isBegun: true });
}

/** Writes a pipeline as JSON, in parts. */
export async function writePipeline(
  context: PipelineContext,
  organization: Organization,
  { steps, ...facts }: WithCounts<UnparsedPipeline>,
  takeSlice = openStepSlices(),
): Promise<string[]> {
  const { steps: _, ...members } = presentPipeline(context, organization, { ...facts, steps: [] });
  const before = JSON.stringify(members).slice(0, -1);
  return [`${before},"steps":`, ...(await writeSteps(steps, takeSlice)), "}"];
}

/** Writes some of the steps in each turn of the event loop. */
async function writeSteps(stored: string, takeSlice: TakeSlice): Promise<string[]> {
  const texts: string[] = [];
  for (const step of JSON.parse(stored) as Step[]) {
    const text = presentSteps([step])
      .map((written) => JSON.stringify(written))
      .join();
    texts.push(texts.length === 0 ? "[" : ",", text);
    const turn = takeSlice(text.length);
    if (turn) await turn;
  }
  return texts.length === 0 ? ["[]"] : [...texts, "]"];
}

/** A pipeline as REST answers it, with its steps written as callers send them. */
export function presentPipeline(
  { config, cipher, users, providers }: PipelineContext,
  organization: Organization,
  pipeline: WithCounts<Omit<Pipeline, "document">>,
) {
  const address = { org: organization.slug, slug: pipeline.slug };
  return {
    id: pipeline.id,
    graphql_id: graphqlId("Pipeline", pipeline.id),
    url: api.pipeline(config, address),
    web_url: web.pipeline(config, address),
    ...presentMembers(pipelineMembers, pipeline),
    provider: presentProvider(providers, pipeline),
    builds_url: api.builds(config, address),
    badge_url: web.badge(config, pipeline.id),
    env: environmentOfPipeline(cipher, pipeline),
    steps: presentSteps(pipeline.steps),
    ...presentCounts(pipeline.counts),
    created_by: presentUserById(config, users, pipeline.createdById),
    created_at: pipeline.createdAt,
    archived_at: pipeline.archivedAt,
  };
}

function presentCounts(counts: PipelineCounts | undefined) {
  return (
    counts && {
      scheduled_builds_count: counts.scheduledBuilds,
      running_builds_count: counts.runningBuilds,
      scheduled_jobs_count: counts.scheduledJobs,
      running_jobs_count: counts.runningJobs,
      waiting_jobs_count: counts.waitingJobs,
    }
  );
}
