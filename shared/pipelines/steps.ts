import { z } from "zod";
import { stored } from "../sharing/bounds.ts";
import { type CommandStep, isCommandStep, type Step } from "../vocabulary.ts";
import { environmentSchema } from "./environment.ts";
import { type Given, givenBy, parseMembers } from "./step-declaration.ts";
import { agentQueues, nullable, oneOf, scalarsToText } from "./step-forms.ts";
import { commandMembers, queuesOf, unsupported, waitMembers } from "./step-members.ts";

// Steps as callers send them: by REST, pages and pipeline upload alike. Stored steps can be sent again.

const maxSteps = 100;
const maxStepsOfUpload = 500;
/** Limits of a build, uploaded steps included. Each parallel job has a copy of its step. */
export const { jobs: maxJobsOfBuild, bytes: maxJobBytes } = stored.jobs.max;

/** Null says nothing. */
const unsupportedMembers = Object.fromEntries(
  unsupported.map((name) => [name, z.null({ error: `Step ${name} is not supported` }).optional()]),
);
const waitTypes = ["wait", "waiter"];

const members = z.object(
  {
    type: z
      .enum(["script", "command", "commands", ...waitTypes], { error: "Step type must be command or wait" })
      .nullish()
      .meta({ description: "Default: command" }),
    ...givenBy(commandMembers),
    wait: z.unknown().optional().meta({ description: "With any value: the step is a wait" }),
    ...givenBy(waitMembers),
    ...unsupportedMembers,
  },
  { error: "Steps must be objects" },
);

/** A step whose problems name its members. */
export const stepObject = members
  .refine((given) => isWait(given) || isUnsupported(given) || hasCommand(given), {
    error: "Step command can't be blank",
    path: ["command"],
    when: ({ value }) => typeof value === "object" && value !== null,
  })
  .refine((given: Given) => !(isWait(given) && given.command), {
    error: "Step wait cannot have a command",
    path: ["wait"],
  })
  .transform((given, context): Step => {
    if (queuesOf(given).length > 1) context.addIssue("Step names more than one queue");
    return isWait(given)
      ? { type: "wait", ...parseMembers(waitMembers, given) }
      : parseMembers(commandMembers, given);
  });

const stepText = z
  .enum(waitTypes, {
    error: ({ input }) =>
      typeof input === "string" && unsupported.includes(input)
        ? `Step ${input} is not supported`
        : "Steps must be objects",
  })
  .transform((): Step => ({ type: "wait" }));

const step = oneOf({ object: stepObject, text: stepText }, "Steps must be objects");

function isWait(given: Given): boolean {
  return "wait" in given || waitTypes.includes(given.type as string);
}

/** The step is refused for this member, and has no command because of it. */
function isUnsupported(given: Given): boolean {
  return unsupported.some((name) => given[name] ?? false);
}

/** Plugins may bring the command. */
function hasCommand({ command, commands, plugins = [] }: Given): boolean {
  const given = command ?? commands ?? "";
  return (plugins as unknown[]).length > 0 || typeof given !== "string" || given.trim() !== "";
}

/** Checks the length of lists only: text has a length too. */
const ofList = { when: ({ value }: { value: unknown }) => Array.isArray(value) };

function stepList(max: number) {
  return z
    .array(step, {
      error: ({ input }) =>
        input === undefined || input === null ? "Steps can't be blank" : "Steps must be a list",
    })
    .min(1, { error: "Steps can't be blank", ...ofList })
    .max(max, { error: `Steps can be ${max} at most`, ...ofList })
    .refine((steps) => countJobs(steps) <= maxJobsOfBuild, {
      error: `Steps become more than ${maxJobsOfBuild.toLocaleString("en")} jobs`,
    })
    .refine((steps) => jobBytes(steps) <= maxJobBytes, { error: tooLarge });
}

const tooLarge = "Steps are too large for so many jobs";

export function countJobs(steps: Step[]): number {
  return steps.reduce((total, step) => total + copiesOf(step), 0);
}

export function jobBytes(steps: Step[]): number {
  return steps.reduce((total, step) => total + copiesOf(step) * Buffer.byteLength(JSON.stringify(step)), 0);
}

function copiesOf(step: Step): number {
  return isCommandStep(step) ? (step.parallelism ?? 1) : 1;
}

export const pipelineSteps = stepList(maxSteps).refine(
  (steps) => steps.length === 0 || steps.some(isCommandStep),
  { error: "Steps need a command" },
);

export interface UploadedPipeline {
  steps: Step[];
}

const pipelineObject = z
  .object({
    steps: stepList(maxStepsOfUpload),
    env: nullable(z.preprocess(scalarsToText, environmentSchema("env"))).meta({
      description: "Variables of the new jobs; those of a step win",
    }),
    agents: nullable(agentQueues("agents", "agents queue")).meta({
      description: "The queue of the new jobs; that of a step wins",
    }),
  })
  .transform(({ steps, env, agents }, context): UploadedPipeline => {
    const [queue, second] = new Set(agents?.keys);
    if (second !== undefined) context.addIssue("agents names more than one queue");
    const defaults = { env, agents: queue === undefined ? undefined : { queue } };
    const uploaded = steps.map((each) => (isCommandStep(each) ? withDefaults(each, defaults) : each));
    if (jobBytes(uploaded) > maxJobBytes) context.addIssue(tooLarge);
    return { steps: uploaded };
  });

function withDefaults(
  step: CommandStep,
  { env, agents }: { [K in "env" | "agents"]: CommandStep[K] | undefined },
): CommandStep {
  return {
    ...step,
    ...(env && { env: { ...env, ...step.env } }),
    ...(agents && !step.agents?.queue && { agents }),
  };
}

/** The pipeline that a job uploads: its steps, with what it says for all of them. */
export const uploadedPipeline = oneOf(
  {
    object: pipelineObject,
    list: stepList(maxStepsOfUpload).transform((steps): UploadedPipeline => ({ steps })),
  },
  "pipeline must be an object with steps",
);
