import { z } from "zod";
import { maxBranchPatternsLength } from "../../conditions/branches.ts";
import { isId } from "../../ids.ts";
import * as validation from "../../validation.ts";
import type { CommonStep } from "../../vocabulary.ts";
import { type Member, type Members, member, named } from "./declaration.ts";
import { dependsOn } from "./dependencies.ts";
import { nullable, oneOf, optionalText, text, textList, truth, wholeNumber } from "./forms.ts";
import { givenSkip, toSkip } from "./skip.ts";

// Members that several kinds of steps have.

/** Of the label of a step. */
export const maxStepNameLength = 255;
const maxKeyLength = 100;
export const maxParallelism = 100;

function keyOf(name: string) {
  return nullable(
    text(name, maxKeyLength)
      .refine((given) => given.trim() !== "", `${name} can't be blank`)
      .refine((given) => !isId(given.toLowerCase()), `${name} cannot be a UUID`),
  );
}

function branchPatterns(name: string) {
  const error = `${name} must be text or a list of text`;
  return nullable(
    oneOf({ text: z.string({ error }), list: textList(error) }, error)
      .transform((given) => [given].flat().join(" "))
      .pipe(validation.text(name, maxBranchPatternsLength)),
  );
}

/** The members of all steps. */
export const commonMembers: Members<Omit<CommonStep, "others">> = {
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
    parse: ({ if: condition }) => (condition?.trim() ? condition : undefined),
    stored: z.string(),
    words: (condition) => `if ${condition}`,
  }),
  branches: member({
    given: named(
      ["branches", "branch_configuration"],
      branchPatterns,
      "Patterns, separated by spaces. The step is left out on other branches",
    ),
    parse: ({ branches, branch_configuration }) =>
      [branches, branch_configuration].find((patterns) => patterns?.trim()) ?? undefined,
    stored: z.string(),
    words: (branches) => `on the branches ${branches}`,
  }),
  depends_on: dependsOn,
  allow_dependency_failure: member({
    given: {
      allow_dependency_failure: truth("Step allow_dependency_failure").meta({
        description: "The step also runs if those that it depends on fail",
      }),
    },
    parse: ({ allow_dependency_failure }) => allow_dependency_failure || undefined,
    stored: z.boolean(),
  }),
};

export const skip: Member<boolean | string> = member({
  given: { skip: givenSkip("Step skip") },
  parse: ({ skip }) => toSkip(skip),
  stored: z.union([z.boolean(), z.string()]),
  words: (reason) => (reason === true ? "skipped" : `skipped: ${reason}`),
});

export const parallelism: Member<number> = member({
  given: {
    parallelism: wholeNumber("Step parallelism", 0, maxParallelism).meta({
      description: "The number of jobs that the step becomes. 0: one",
    }),
  },
  parse: ({ parallelism = 1 }) => (parallelism > 1 ? parallelism : undefined),
  stored: z.int(),
  words: (jobs) => `in ${jobs} jobs`,
});
