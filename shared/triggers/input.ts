import { z } from "zod";

const longestLabel = 255;
const longestText = 1000;
const mostVariables = 100;
const largestEnvironmentBytes = 64 * 1024;

/** Text that both databases can hold. */
const text = (longest: number) =>
  z
    .string()
    .max(longest, `is too long (maximum is ${longest} characters)`)
    .refine((value) => !value.includes("\0") && value.isWellFormed(), "must be Unicode text without NUL");

const environment = z
  .record(z.string(), text(largestEnvironmentBytes))
  .refine(
    (value) => Object.keys(value).every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)),
    "names must be letters, digits and _, not starting with a digit",
  )
  .refine((value) => Object.keys(value).length <= mostVariables, `has more than ${mostVariables} variables`)
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= largestEnvironmentBytes,
    "is larger than 64 KB",
  );

/** What a new trigger is made of (spec §2.6). Null: the default of the specification. */
export const newTrigger = z.strictObject({
  type: z.string(),
  label: text(longestLabel).refine((value) => value.trim() !== "", "can't be blank"),
  enabled: z.boolean(),
  message: text(longestText).nullable(),
  commit: text(longestText).nullable(),
  branch: text(longestText).nullable(),
  environment,
  /** Signing secret; null: deliveries are not verified. */
  secret: text(longestText).min(1, "can't be blank").nullable(),
});

export type NewTrigger = z.infer<typeof newTrigger>;
