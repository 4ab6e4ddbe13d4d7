import { z } from "zod";
import { maxBranchPatternsLength } from "../../conditions/branches.ts";
import { isId } from "../../ids.ts";
import { optionalText, record, text } from "../../validation.ts";
import type { CommandStep, CommonStep, GroupStep, Step, StepOptions, WaitStep } from "../../vocabulary.ts";
import { environmentSchema } from "../environment.ts";
import { givenRules, toTags } from "./agents.ts";
import { type Given, type Member, type Members, member, named } from "./declaration.ts";
import { dependsOn } from "./dependencies.ts";
import { retry, softFail } from "./failures.ts";
import { nullable, oneOf, scalarsToText, truth, wholeNumber } from "./forms.ts";
import { matrix } from "./matrix.ts";
import { pluginList } from "./plugins.ts";
import { givenSkip, toSkip } from "./skip.ts";

/** Of the label of a step. */
export const maxStepNameLength = 255;
const maxKeyLength = 100;

const maxCommandLength = 65_536;
const maxTimeoutMinutes = 525_600;
const maxParallelism = 100;
/** Of the columns of jobs. */
export const maxPriority = 2_147_483_647;
const maxImageLength = 1000;

const commandText = text("Step command", maxCommandLength);
const commandLines = nullable(
  oneOf({ text: commandText, list: z.array(commandText) }, "Step command must be text")
    .transform((given) => (Array.isArray(given) ? given.join("\n") : given))
    .refine(
      (lines) => lines.length <= maxCommandLength,
      "Step command is too long: its lines have over 64 KB",
    ),
);

function keyOf(name: string) {
  return nullable(
    text(name, maxKeyLength)
      .refine((given) => given.trim() !== "", `${name} can't be blank`)
      .refine((given) => !isId(given.toLowerCase()), `${name} cannot be a UUID`),
  );
}

const branchesError = "Step branches must be text or a list of text";
const branch = z.string({ error: branchesError });

/** The members of all steps. */
const commonMembers: Members<Omit<CommonStep, "others">> = {
  label: member({
    given: named(["label", "name"], (name) => optionalText(name, maxStepNameLength)),
    stored: z.string(),
  }),
  key: member({
    given: named(["key", "id", "identifier"], keyOf, "Unique in the build"),
    stored: z.string(),
    variables: (key) => ({ STEP_KEY: key, STEP_IDENTIFIER: key }),
  }),
  if: member({
    given: {
      if: nullable(
        oneOf({ text: z.string(), boolean: z.boolean() }, "Step if must be text").transform(String),
      ).meta({ description: "A condition. The step is left out unless it holds" }),
    },
    stored: z.string(),
    words: (condition) => `if ${condition}`,
  }),
  branches: member({
    given: {
      branches: nullable(
        oneOf({ text: branch, list: z.array(branch) }, branchesError)
          .transform((given) => [given].flat().join(" "))
          .pipe(text("Step branches", maxBranchPatternsLength)),
      ).meta({ description: "Patterns, parted by blanks. The step is left out on other branches" }),
    },
    parse: ({ branches }) => (branches?.trim() ? branches : undefined),
    stored: z.string(),
    words: (branches) => `on the branches ${branches}`,
  }),
  depends_on: dependsOn,
  allow_dependency_failure: member({
    given: {
      allow_dependency_failure: nullable(truth("Step allow_dependency_failure")).meta({
        description: "The step also runs if those that it depends on fail",
      }),
    },
    parse: ({ allow_dependency_failure }) => allow_dependency_failure || undefined,
    stored: z.boolean(),
  }),
};

const { label, ...otherCommonMembers } = commonMembers;

const skip: Member<boolean | string> = member({
  given: { skip: givenSkip("Step skip") },
  parse: ({ skip }) => toSkip(skip),
  stored: z.union([z.boolean(), z.string()]),
  words: (reason) => (reason === true ? "skipped" : `skipped: ${reason}`),
});

/** The members of a command, in the order of their problems. */
export const commandMembers: Members<Omit<CommandStep, "others">> = {
  label,
  command: member({
    given: named(["command", "commands"], () => commandLines, "A command, or a list of commands"),
    parse: ({ command, commands }) => command ?? commands ?? "",
    stored: z.string(),
  }),
  ...otherCommonMembers,
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
      agents: nullable(givenRules("Step agents")).meta({
        description: "The queue, and tags that the agent must have. *: any value",
      }),
      agent_query_rules: nullable(givenRules("Step agent_query_rules", { areMaps: false })).meta({
        description: "Another way to name agents: queue=<key>",
      }),
    },
    parse: ({ agents, agent_query_rules }) => toTags([agents, agent_query_rules]),
    stored: z.object({ queue: z.string().optional() }).catchall(z.union([z.string(), z.array(z.string())])),
  }),
  priority: member({
    given: {
      priority: nullable(wholeNumber("Step priority", -maxPriority, maxPriority)).meta({
        description: "Jobs with a higher one are handed out first. Default: 0",
      }),
    },
    stored: z.int(),
    words: (priority) => `with the priority ${priority}`,
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
  skip,
  soft_fail: softFail,
  retry,
  parallelism: member({
    given: {
      parallelism: nullable(wholeNumber("Step parallelism", 0, maxParallelism)).meta({
        description: "The number of jobs that the step becomes. 0: one",
      }),
    },
    parse: ({ parallelism = 1 }) => (parallelism > 1 ? parallelism : undefined),
    stored: z.int(),
    words: (jobs) => `in ${jobs} jobs`,
  }),
  matrix,
  plugins: member({
    given: { plugins: pluginList.meta({ description: "Agents get it as it is" }) },
    parse: ({ plugins }) => (plugins && plugins.length > 0 ? plugins : undefined),
    stored: z.array(z.unknown()),
    variables: (plugins) => ({ PLUGINS: plugins && JSON.stringify(plugins) }),
  }),
  image: member({
    given: { image: optionalText("Step image", maxImageLength).meta({ description: "For agents" }) },
    stored: z.string(),
    variables: (image) => ({ IMAGE: image }),
  }),
  signature: member({
    given: {
      signature: nullable(record("Step signature", z.unknown(), "Step signature must be an object")).meta({
        description: "Agents get it as it is",
      }),
    },
    stored: z.record(z.string(), z.unknown()),
  }),
};

export const waitMembers: Members<Omit<WaitStep, "type" | "others">> = {
  ...commonMembers,
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

export const groupMembers: Members<Omit<GroupStep, "type" | "steps" | "others">> = {
  ...commonMembers,
  label: member({
    given: {
      group: optionalText("Step group", maxStepNameLength).meta({
        description: "With any value: the step is a group of this name",
      }),
      ...named(["label", "name"], (name) => optionalText(name, maxStepNameLength)),
    },
    stored: z.string(),
  }),
  skip,
};

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
export function wordsOfStep(step: Step | Partial<CommandStep>): string[] {
  const stored: Given = { ...step };
  return Object.entries(members).flatMap(([name, { words }]) =>
    stored[name] === undefined ? [] : (words?.(stored[name]) ?? []),
  );
}
