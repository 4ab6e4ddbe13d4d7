import { z } from "zod";
import { optionalText, text } from "../validation.ts";
import type { CommandStep, StepOptions, WaitStep } from "../vocabulary.ts";
import { environmentSchema } from "./environment.ts";
import { type Given, type Member, type Members, member, named } from "./step-declaration.ts";
import { retry, softFail } from "./step-failures.ts";
import {
  agentQueues,
  agentRules,
  type NamedQueues,
  nullable,
  oneOf,
  pluginList,
  scalarsToText,
  truth,
  wholeNumber,
} from "./step-forms.ts";

/** Of the label and the key of a step. */
export const maxStepNameLength = 255;

const maxCommandLength = 65_536;
const maxTimeoutMinutes = 525_600;
const maxParallelism = 100;

const commandText = text("Step command", maxCommandLength);
const commandLines = nullable(
  oneOf({ text: commandText, list: z.array(commandText) }, "Step command must be text")
    .transform((given) => (Array.isArray(given) ? given.join("\n") : given))
    .refine(
      (lines) => lines.length <= maxCommandLength,
      "Step command is too long: its lines have over 64 KB",
    ),
);

/** The members of a command, in the order of their problems. */
export const commandMembers: Members<CommandStep> = {
  label: member({
    given: named(["label", "name"], (name) => optionalText(name, maxStepNameLength)),
    stored: z.string(),
  }),
  command: member({
    given: named(["command", "commands"], () => commandLines, "A command, or a list of commands"),
    parse: ({ command, commands }) => command ?? commands ?? "",
    stored: z.string(),
  }),
  key: member({
    given: named(["key", "id", "identifier"], (name) => optionalText(name, maxStepNameLength)),
    stored: z.string(),
    variables: (key) => ({ STEP_KEY: key }),
  }),
  env: member({
    given: {
      env: nullable(z.preprocess(scalarsToText, environmentSchema("Step env"))).meta({
        description: "Variables of the step's jobs. They win over those of the build",
      }),
    },
    parse: ({ env }) => (env && Object.keys(env).length > 0 ? env : undefined),
    stored: z.record(z.string(), z.string()),
  }),
  agents: member({
    given: {
      agents: nullable(agentQueues("Step agents", "Step queue")),
      agent_query_rules: nullable(agentRules("Step agent_query_rules")).meta({
        description: "Another way to name the queue: queue=<key>",
      }),
    },
    parse: (given) => {
      const [queue] = queuesOf(given);
      return queue === undefined ? (given.agents?.isMap ? {} : undefined) : { queue };
    },
    stored: z.object({ queue: z.string().optional() }),
  }),
  timeout_in_minutes: member({
    given: named(
      ["timeout_in_minutes", "timeout"],
      (name) => nullable(wholeNumber(name, 0, maxTimeoutMinutes)),
      "0: no time-out",
    ),
    parse: ({ timeout_in_minutes, timeout }) => (timeout_in_minutes ?? timeout) || undefined,
    stored: z.int(),
    variables: (minutes) => ({ TIMEOUT: String(minutes ?? false) }),
  }),
  soft_fail: softFail,
  retry,
  parallelism: member({
    given: {
      parallelism: nullable(wholeNumber("Step parallelism", 1, maxParallelism)).meta({
        description: "The number of jobs that the step becomes",
      }),
    },
    stored: z.int(),
    words: (jobs) => `in ${jobs} jobs`,
  }),
  plugins: member({
    given: { plugins: pluginList.meta({ description: "Agents get it as it is" }) },
    parse: ({ plugins }) => (plugins && plugins.length > 0 ? plugins : undefined),
    stored: z.array(z.unknown()),
    variables: (plugins) => ({ PLUGINS: plugins && JSON.stringify(plugins) }),
  }),
};

export const waitMembers: Members<Omit<WaitStep, "type">> = {
  continue_on_failure: member({
    given: {
      continue_on_failure: nullable(truth("Step continue_on_failure")).meta({
        description: "Of a wait: later steps also run after a failure",
      }),
    },
    parse: ({ continue_on_failure }) => continue_on_failure || undefined,
    stored: z.boolean(),
  }),
};

/** The queues that a step names: one at most, or it is refused. */
export function queuesOf(given: Given): string[] {
  const named = [given.agents, given.agent_query_rules] as (NamedQueues | undefined)[];
  return [...new Set(named.flatMap((queues) => queues?.keys ?? []))];
}

/** Without one of these a step would not run as its author means. */
export const unsupported = [
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

const members: Record<string, Member<unknown>> = commandMembers;

/** The variables of a job that its step decides, without their prefix. */
export function variablesOfStep(options: StepOptions | null): Record<string, string | undefined> {
  const stored: Given = { ...options };
  return Object.assign(
    {},
    ...Object.entries(members).map(([name, { variables }]) => variables?.(stored[name])),
  );
}

/** For pages, about a step. */
export function wordsOfStep(step: Partial<CommandStep>): string[] {
  const stored: Given = step;
  return Object.entries(members).flatMap(([name, { words }]) =>
    stored[name] === undefined ? [] : (words?.(stored[name]) ?? []),
  );
}
