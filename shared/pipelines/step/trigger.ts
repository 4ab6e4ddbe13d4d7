import { z } from "zod";
import { record } from "../../collections.ts";
import type { TriggerOptions, TriggerStep } from "../../vocabulary.ts";
import { environmentSchema } from "../environment.ts";
import { commonMembers, parallelism, skip } from "./common.ts";
import { type Members, member, named } from "./declaration.ts";
import { softFail } from "./failures.ts";
import { nullable, optionalText, scalarsToText, text, truth } from "./forms.ts";

// The members of trigger steps.

const maxSlugLength = 255;
const maxMetaData = 100;
const maxMetaDataBytes = 64 * 1024;

const metaData = z.preprocess(
  scalarsToText,
  record("Step build.meta_data", text("Step build.meta_data values", maxMetaDataBytes), {
    error: "Step build.meta_data must be an object of names and text",
    max: maxMetaData,
    tooMany: `Step build.meta_data has more than ${maxMetaData} keys`,
  }).refine((given) => !Object.hasOwn(given, ""), "Step build.meta_data cannot have a blank key"),
);

const buildPart = (name: string) => optionalText(name, 1000);

const givenBuild = nullable(
  z
    .object(
      {
        message: optionalText("Step build.message", 10_000),
        commit: buildPart("Step build.commit").meta({ description: "Default: HEAD" }),
        branch: buildPart("Step build.branch").meta({
          description: "Default: the default branch of the pipeline",
        }),
        env: nullable(z.preprocess(scalarsToText, environmentSchema("Step build.env"))),
        meta_data: nullable(metaData),
      },
      { error: "Step build must be an object" },
    )
    .transform((given): TriggerOptions["build"] => {
      const entries = Object.entries(given).filter(([, value]) => value && Object.keys(value).length > 0);
      return entries.length > 0 ? Object.fromEntries(entries) : undefined;
    }),
);

const variables = z.record(z.string(), z.string()).optional();

export const triggerMembers: Members<Omit<TriggerStep, "type" | "others">> = {
  trigger: member({
    given: named(
      ["trigger", "pipeline", "trigger_project_slug"],
      (name) => optionalText(name, maxSlugLength),
      "The slug of the pipeline",
    ),
    stored: z.string(),
  }),
  ...commonMembers,
  build: member({
    given: {
      build: givenBuild.meta({ description: "The build that the step makes" }),
      trigger_commit: buildPart("Step trigger_commit").meta({ description: "The commit of build" }),
      trigger_branch: buildPart("Step trigger_branch").meta({ description: "The branch of build" }),
    },
    parse: ({ build, trigger_commit: commit, trigger_branch: branch }) => {
      const made = { ...(commit && { commit }), ...(branch && { branch }), ...build };
      return Object.keys(made).length > 0 ? made : undefined;
    },
    stored: z.object({
      message: z.string().optional(),
      commit: z.string().optional(),
      branch: z.string().optional(),
      env: variables,
      meta_data: variables,
    }),
  }),
  async: member({
    given: named(
      ["async", "trigger_async"],
      (name) => truth(name),
      "The step passes once the build exists, and does not wait for its end",
    ),
    parse: ({ async, trigger_async }) => (async ?? trigger_async) || undefined,
    stored: z.boolean(),
    words: () => "without waiting for its end",
  }),
  skip,
  soft_fail: softFail,
  parallelism,
};
