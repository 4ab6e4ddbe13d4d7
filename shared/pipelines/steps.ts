import { z } from "zod";
import { stored } from "../sharing/bounds.ts";
import { optionalText, text } from "../validation.ts";
import { type CommandStep, isCommandStep, type Step, type WaitStep } from "../vocabulary.ts";
import { environmentSchema } from "./environment.ts";
import { retry, softFail, toRetry, toSoftFail } from "./step-failures.ts";
import {
  agentQueues,
  agentRules,
  nullable,
  oneOf,
  pluginList,
  scalarsToText,
  wholeNumber,
} from "./step-members.ts";

// Steps as callers send them: by REST, pages and pipeline upload alike. Stored steps can be sent again.

const maxSteps = 100;
const maxStepsOfUpload = 500;
/** Limits of a build, uploaded steps included. Each parallel job has a copy of its step. */
export const { jobs: maxJobsOfBuild, bytes: maxJobBytes } = stored.jobs.max;
const maxCommandLength = 65_536;
const maxTimeoutMinutes = 525_600;
const maxParallelism = 100;

/** Without one of these a step would not run as its author means. */
const unsupported = [
  "depends_on",
  "if",
  "block",
  "input",
  "trigger",
  "group",
  "matrix",
  "skip",
  "branches",
  "concurrency",
  "concurrency_group",
  "concurrency_method",
];
const unsupportedMembers: Record<never, never> = Object.fromEntries(
  unsupported.map((name) => [name, z.null({ error: `Step ${name} is not supported` }).optional()]),
);
const waitTypes = ["wait", "waiter"];

const commandText = text("Step command", maxCommandLength);
const command = nullable(
  oneOf({ text: commandText, list: z.array(commandText) }, "Step command must be text")
    .transform((given) => (Array.isArray(given) ? given.join("\n") : given))
    .refine(
      (lines) => lines.length <= maxCommandLength,
      "Step command is too long: its lines have over 64 KB",
    ),
);

const members = z.object(
  {
    type: z
      .enum(["script", "command", "commands", ...waitTypes], { error: "Step type must be command or wait" })
      .nullish()
      .meta({ description: "Default: command" }),
    label: optionalText("Step label", 255),
    name: optionalText("Step name", 255).meta({ description: "Another name of label, which wins" }),
    command: command.meta({ description: "A command, or a list of commands" }),
    commands: command.meta({ description: "Another name of command, which wins" }),
    key: optionalText("Step key", 255),
    id: optionalText("Step id", 255).meta({ description: "Another name of key, which wins" }),
    identifier: optionalText("Step identifier", 255).meta({ description: "Another name of key, which wins" }),
    env: nullable(z.preprocess(scalarsToText, environmentSchema("Step env"))).meta({
      description: "Variables of the step's jobs. They win over those of the build",
    }),
    agents: nullable(agentQueues("Step agents", "Step queue")),
    agent_query_rules: nullable(agentRules("Step agent_query_rules")).meta({
      description: "Another way to name the queue: queue=<key>",
    }),
    timeout_in_minutes: nullable(wholeNumber("Step timeout_in_minutes", 0, maxTimeoutMinutes)).meta({
      description: "0: no time-out",
    }),
    timeout: nullable(wholeNumber("Step timeout", 0, maxTimeoutMinutes)).meta({
      description: "Another name of timeout_in_minutes, which wins",
    }),
    soft_fail: softFail,
    retry,
    parallelism: nullable(wholeNumber("Step parallelism", 1, maxParallelism)).meta({
      description: "The number of jobs that the step becomes",
    }),
    plugins: pluginList.meta({ description: "Agents get it as it is" }),
    wait: z.unknown().optional().meta({ description: "With any value: the step is a wait" }),
    continue_on_failure: nullable(
      z.boolean({ error: "Step continue_on_failure must be true or false" }),
    ).meta({ description: "Of a wait: later steps also run after a failure" }),
    ...unsupportedMembers,
  },
  { error: "Steps must be objects" },
);
type Members = z.output<typeof members>;

/** A step whose problems name its members. */
export const stepObject = members
  .refine((given) => isWait(given) || isUnsupported(given) || hasCommand(given), {
    error: "Step command can't be blank",
    path: ["command"],
    when: ({ value }) => typeof value === "object" && value !== null,
  })
  .refine((given) => !(isWait(given) && given.command), {
    error: "Step wait cannot have a command",
    path: ["wait"],
  })
  .transform((given, context): Step => {
    if (queuesOf(given).length > 1) context.addIssue("Step names more than one queue");
    return isWait(given) ? toWaitStep(given) : toCommandStep(given);
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

function isWait(given: Members): boolean {
  return "wait" in given || waitTypes.includes(given.type ?? "");
}

/** The step is refused for this member, and has no command because of it. */
function isUnsupported(given: object): boolean {
  return unsupported.some((name) => (given as Record<string, unknown>)[name] ?? false);
}

/** Plugins may bring the command. */
function hasCommand({ command, commands, plugins = [] }: Members): boolean {
  const given: unknown = command ?? commands ?? "";
  return plugins.length > 0 || typeof given !== "string" || given.trim() !== "";
}

function queuesOf({ agents, agent_query_rules }: Members): string[] {
  return [...new Set([...(agents?.keys ?? []), ...(agent_query_rules?.keys ?? [])])];
}

function toWaitStep({ continue_on_failure }: Members): WaitStep {
  return { type: "wait", ...(continue_on_failure ? { continue_on_failure } : {}) };
}

function toCommandStep(given: Members): CommandStep {
  const [queue] = queuesOf(given);
  const { env, plugins, parallelism } = given;
  const parsed: { [K in keyof CommandStep]: CommandStep[K] | undefined } = {
    label: given.label ?? given.name,
    command: given.command ?? given.commands ?? "",
    agents: queue === undefined ? (given.agents?.isMap ? {} : undefined) : { queue },
    key: given.key ?? given.id ?? given.identifier,
    env: env && Object.keys(env).length > 0 ? env : undefined,
    timeout_in_minutes: (given.timeout_in_minutes ?? given.timeout) || undefined,
    soft_fail: toSoftFail(given.soft_fail),
    retry: toRetry(given.retry),
    parallelism,
    plugins: plugins && plugins.length > 0 ? plugins : undefined,
  };
  return Object.fromEntries(
    Object.entries(parsed).filter(([, value]) => value !== undefined),
  ) as unknown as CommandStep;
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
