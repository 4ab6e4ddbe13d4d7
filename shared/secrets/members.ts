import { z } from "zod";
import { type Given, inputOf } from "../members/bodies.ts";
import type { Members } from "../members/member.ts";
import { exactSize } from "../refusal.ts";
import { stored } from "../sharing/bounds.ts";
import { blankToNull, description, isStorable, requiredText } from "../validation.ts";
import { secretKeyPattern } from "../vocabulary.ts";
import { claimNames, parsePolicy } from "./policy.ts";
import type { Secret } from "./store.ts";

const maxKeyLength = 255;
const { "bytes of the value": maxValueBytes, "bytes of the policy": maxPolicyBytes } = stored.secretBytes.max;

const keyText = requiredText("Key", maxKeyLength).refine((key) => secretKeyPattern.test(key), {
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

type Kept =
  | ("id" | "organizationId" | "clusterId" | "valueSealed" | "lastReadAt")
  | ("createdAt" | "createdById" | "updatedAt" | "updatedById");

/** The members of a secret. */
export const secretMembers = {
  key: {
    rule: "at most 255 letters, digits and `_`, first a letter; never changes. Regardless of case, it is unique in its cluster and does not begin with `BK`, `BUILDKITE`, `SIGNALBOX` or `AGENT_ENV_PREFIX`",
    create: keyText,
    shown: z.string(),
    audited: null,
    field: {
      label: "Key",
      hint: "Letters, numbers and underscores, such as DEPLOY_TOKEN. It cannot be changed later.",
      kind: "name",
    },
    option: ["<key>", "the secret's key, in any case"],
  },
  value: {
    rule: "at most 64 KB; PUT to `/value` changes it; never shown",
    create: secretValue,
    shown: null,
    audited: "name",
    field: { label: "Value", hint: "It is stored encrypted, and never shown again.", kind: "code" },
  },
  description: {
    rule: null,
    create: description.optional().transform(blankToNull),
    change: description.transform(blankToNull).optional(),
    shown: z.string().nullable(),
    audited: "values",
    field: { label: "Description" },
    option: ["<text>", "its purpose"],
  },
  policy: {
    rule: "[YAML](../../shared/secrets/README.md#say-which-jobs-may) of at most 4 KB; null: every job of the cluster may read it",
    create: policyText.optional().transform((given) => given ?? null),
    change: policyText.optional(),
    shown: z
      .string()
      .nullable()
      .meta({
        description: `YAML: a list of rules, each with claims (${claimNames.join(", ")}). Null: every job of the cluster may read it`,
      }),
    audited: "name",
    field: {
      label: "Policy",
      hint: `YAML: a list of rules. A job that has all claims of one rule may read the secret. Claims: ${claimNames.join(", ")}. Empty: every job of the cluster may.`,
      placeholder: "- pipeline_slug: web\n  build_branch: [main, release/*]",
      kind: "code",
    },
    option: ["<yaml>", "the rules of jobs that may read it; default: every job of the cluster"],
  },
} satisfies Members<Secret, Kept, "value">;

export type NewSecret = Given<typeof secretMembers, "create">;
export type SecretChange = Given<typeof secretMembers, "change">;
export const newSecret = inputOf(secretMembers, "create");
/** Absent members stay. */
export const secretChange = inputOf(secretMembers, "change");
