import { z } from "zod";
import { record } from "../../collections.ts";
import type { TriggerOptions, TriggerStep } from "../../vocabulary.ts";
import { environmentSchema } from "../environment.ts";
import { commonMembers, parallelism, skip } from "./common.ts";
import { type Members, member } from "./declaration.ts";
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

const givenBuild = nullable(
  z
    .object(
      {
        message: optionalText("Step build.message", 10_000),
        commit: optionalText("Step build.commit", 1000).meta({ description: "Default: HEAD" }),
        branch: optionalText("Step build.branch", 1000).meta({
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
    given: {
      trigger: optionalText("Step trigger", maxSlugLength).meta({ description: "The slug of the pipeline" }),
    },
    stored: z.string(),
  }),
  ...commonMembers,
  build: member({
    given: { build: givenBuild.meta({ description: "The build that the step makes" }) },
    stored: z.object({
      message: z.string().optional(),
      commit: z.string().optional(),
      branch: z.string().optional(),
      env: variables,
      meta_data: variables,
    }),
  }),
  async: member({
    given: {
      async: truth("Step async").meta({
        description: "The step passes once the build exists, and does not wait for its end",
      }),
    },
    parse: ({ async }) => async || undefined,
    stored: z.boolean(),
    words: () => "without waiting for its end",
  }),
  skip,
  soft_fail: softFail,
  parallelism,
};
