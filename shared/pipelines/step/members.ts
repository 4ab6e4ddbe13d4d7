import { z } from "zod";
import { record } from "../../collections.ts";
import * as validation from "../../validation.ts";
import type { CommandStep, GroupStep, Step, StepOptions, WaitStep } from "../../vocabulary.ts";
import { environmentSchema } from "../environment.ts";
import { notify } from "../notify/member.ts";
import { givenRules, toTags } from "./agents.ts";
import { checkout } from "./checkout.ts";
import { commonMembers, maxStepNameLength, parallelism, skip } from "./common.ts";
import { concurrencyMembers } from "./concurrency.ts";
import { type Given, type Member, type Members, member, named } from "./declaration.ts";
import { retry, softFail } from "./failures.ts";
import { nullable, oneOf, optionalText, scalarsToText, textList, truth, wholeNumber } from "./forms.ts";
import { manualMembers } from "./manual.ts";
import { matrix } from "./matrix.ts";
import { pluginList, pluginsOfJob } from "./plugins.ts";
import { secrets } from "./secrets.ts";
import { triggerMembers } from "./trigger.ts";

const maxCommandLength = 65_536;
export const maxTimeoutMinutes = 525_600;
/** Of the columns of jobs. */
export const maxPriority = 2_147_483_647;
const maxImageLength = 1000;
const maxArtifactPathsLength = 16_384;

const commandError = "Step command must be text";
const commandText = validation.text("Step command", maxCommandLength);
const commandLines = nullable(
  oneOf(
    { text: commandText, list: textList(commandError).transform((given) => given.join("\n")) },
    commandError,
  )
    .refine(
      (lines) => lines.length <= maxCommandLength,
      "Step command is too long: its lines have over 64 KB",
    )
    .pipe(commandText),
);

function artifactPaths(name: string) {
  const error = `${name} must be text or a list of text`;
  return nullable(
    oneOf({ text: z.string(), list: textList(error) }, error)
      .transform((given) =>
        [given]
          .flat()
          .filter((each) => each.trim() !== "")
          .join(";"),
      )
      .pipe(validation.text(name, maxArtifactPathsLength)),
  );
}

const { label, ...otherCommonMembers } = commonMembers;

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
      priority: wholeNumber("Step priority", -maxPriority, maxPriority).meta({
        description: "Jobs with a higher one are handed out first. Default: 0",
      }),
    },
    stored: z.int(),
    words: (priority) => `with the priority ${priority}`,
  }),
  timeout_in_minutes: member({
    given: named(
      ["timeout_in_minutes", "timeout"],
      (name) => wholeNumber(name, 0, maxTimeoutMinutes),
      "0: that of the pipeline, if it has one",
    ),
    parse: ({ timeout_in_minutes, timeout }) => (timeout_in_minutes ?? timeout) || undefined,
    stored: z.int(),
  }),
  skip,
  soft_fail: softFail,
  retry,
  parallelism,
  matrix,
  plugins: member({
    given: {
      plugins: pluginList.meta({ description: "Agents get each under the address of its repository" }),
    },
    parse: ({ plugins }) => (plugins && plugins.length > 0 ? plugins : undefined),
    stored: z.array(z.unknown()),
    variables: (plugins) => ({ PLUGINS: plugins && JSON.stringify(pluginsOfJob(plugins)) }),
  }),
  image: member({
    given: { image: optionalText("Step image", maxImageLength).meta({ description: "For agents" }) },
    stored: z.string(),
    variables: (image) => ({ IMAGE: image }),
  }),
  artifact_paths: member({
    given: named(
      ["artifact_paths", "artifacts"],
      artifactPaths,
      "Patterns of files that agents upload when the command has ended: a list, or text parted by ;",
    ),
    parse: ({ artifact_paths, artifacts }) => artifact_paths || artifacts || undefined,
    stored: z.string(),
    variables: (paths) => ({ ARTIFACT_PATHS: paths }),
    words: (paths) => `uploads ${paths}`,
  }),
  secrets,
  checkout,
  signature: member({
    given: {
      signature: nullable(
        record("Step signature", z.unknown(), { error: "Step signature must be an object" }).refine(
          validation.isStorableDeep,
          "Step signature must be text without NUL",
        ),
      ).meta({ description: "Agents get it as it is" }),
    },
    stored: z.record(z.string(), z.unknown()),
  }),
  ...concurrencyMembers,
  cancel_on_build_failing: member({
    given: {
      cancel_on_build_failing: truth("Step cancel_on_build_failing").meta({
        description: "Its unfinished jobs are canceled once the build fails",
      }),
    },
    parse: ({ cancel_on_build_failing }) => cancel_on_build_failing || undefined,
    stored: z.boolean(),
    words: () => "canceled once the build fails",
  }),
  notify,
};

export const waitMembers: Members<Omit<WaitStep, "type" | "others">> = {
  ...commonMembers,
  continue_on_failure: member({
    given: {
      continue_on_failure: truth("Step continue_on_failure").meta({
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
  notify,
};

const members: Record<string, Member<unknown>> = {
  ...commandMembers,
  ...manualMembers("block"),
  ...triggerMembers,
};

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
