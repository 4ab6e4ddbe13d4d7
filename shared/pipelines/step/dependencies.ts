import { z } from "zod";
import { listOf } from "../../collections.ts";
import type { Dependency } from "../../vocabulary.ts";
import { member } from "./declaration.ts";
import { oneOf, text, truth } from "./forms.ts";

// The keys that a step depends on, as callers give them.

const maxDependencies = 500;
const maxKeyLength = 255;

const blank = "Step depends_on can't have a blank key";
const keyText = text("Step depends_on", maxKeyLength).refine((given) => given.trim() !== "", blank);
const keyNumber = z.number().transform(String);

const byText = keyText.transform((step): Dependency => ({ step }));
const byNumber = keyNumber.transform((step): Dependency => ({ step }));
const stepError = "Step depends_on must name the key of a step";
const byMap = z
  .object({
    step: oneOf({ text: keyText, number: keyNumber }, stepError),
    allow_failure: truth("Step depends_on allow_failure"),
  })
  .transform(({ step, allow_failure }): Dependency => ({ step, ...(allow_failure && { allow_failure }) }));

const error = "Step depends_on must be a key or a list of keys";
const one = oneOf({ text: byText, number: byNumber, object: byMap }, error);

/** Absent stays absent. Null is an empty list: the step waits for nothing. */
const given = oneOf(
  {
    text: byText,
    number: byNumber,
    object: byMap,
    list: listOf(one, {
      error,
      max: maxDependencies,
      tooMany: `Step depends_on can have ${maxDependencies} keys at most`,
    }),
  },
  error,
)
  .transform((given): Dependency[] => [given].flat())
  .nullable()
  .transform((given) => given ?? [])
  .optional()
  .meta({
    description: "Keys of steps and groups that must end first. Null and []: the step waits for nothing",
  });

export const dependsOn = member({
  given: { depends_on: given },
  stored: z.array(z.object({ step: z.string(), allow_failure: z.boolean().optional() })),
});
