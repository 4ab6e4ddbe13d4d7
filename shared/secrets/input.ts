import { z } from "zod";
import { exactSize } from "../refusal.ts";
import { stored } from "../sharing/bounds.ts";
import { blankToNull, description, isStorable, requiredText } from "../validation.ts";
import { secretKeyPattern } from "../vocabulary.ts";
import { parsePolicy } from "./policy.ts";

// The members of a secret as callers send them, by REST, pages and the operator's command alike.

const maxKeyLength = 255;
const { "bytes of the value": maxValueBytes, "bytes of the policy": maxPolicyBytes } = stored.secretBytes.max;

export const secretKeyText = requiredText("Key", maxKeyLength).refine((key) => secretKeyPattern.test(key), {
  error: "Key can only contain letters, numbers and underscores, and must start with a letter",
  when: ({ value }) => typeof value === "string" && value.trim() !== "",
});

export const secretValue = requiredText("Value", maxValueBytes).refine(
  (value) => Buffer.byteLength(value) <= maxValueBytes,
  {
    error: `Value is larger than ${exactSize(maxValueBytes)}`,
    when: ({ value }) => typeof value === "string" && value.length <= maxValueBytes,
  },
);

/** Null and blank: every job of the cluster may read the secret. */
const policyText = z
  .string({ error: "Policy must be text" })
  .refine(isStorable, { error: "Policy must be text without NUL", abort: true })
  .refine((text) => Buffer.byteLength(text) <= maxPolicyBytes, {
    error: `Policy is larger than ${exactSize(maxPolicyBytes)}`,
    abort: true,
  })
  .nullable()
  .transform(blankToNull)
  .superRefine((text, context) => {
    const parsed = text === null ? undefined : parsePolicy(text);
    if (parsed && "problems" in parsed) for (const problem of parsed.problems) context.addIssue(problem);
  });

export const newSecret = z.object({
  key: secretKeyText,
  value: secretValue,
  description: description.optional().transform(blankToNull),
  policy: policyText.optional().transform((given) => given ?? null),
});
export type NewSecret = z.output<typeof newSecret>;

/** Absent members stay. */
export const secretChange = z.object({
  description: description.transform(blankToNull).optional(),
  policy: policyText.optional(),
});
export type SecretChange = z.output<typeof secretChange>;
