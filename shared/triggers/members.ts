import { z } from "zod";
import { type Given, inputOf } from "../members/bodies.ts";
import type { MemberField, Members, Objects, Request } from "../members/member.ts";
import { only } from "../members/only.ts";
import { environmentSchema } from "../pipelines/environment.ts";
import { requiredText, text } from "../validation.ts";
import { type HmacSignature, hmacAlgorithms, hmacEncodings } from "../vocabulary.ts";
import { maxExpressionBytes } from "./filter/compile.ts";
import type { Trigger } from "./store.ts";
import { buildDefaults, hmacDefaults } from "./types.ts";

const label = requiredText("Label", 255);
const enabled = z.boolean({ error: "Enabled must be true or false" });
export const environment = environmentSchema("Environment");
const environmentMember = environment.optional().meta({
  description:
    "Variables of the build; replaces the whole set. Tokens with the scope read_builds can read them in `env` of a build: do not put secrets here",
});
/** The compiler also counts bytes: a character may have four. */
const expression = requiredText("Filter expression", maxExpressionBytes).meta({
  description: `CEL, at most ${maxExpressionBytes} bytes`,
});
const strategy = z.literal("hmac", { error: "Verification strategy must be hmac" });
const secret = requiredText("Secret", 1000);
const types = "webhook, github, gitlab, gitea, bitbucket, the issue tracker or hmac";
const stays = { description: "Absent: the present one stays" };

/** A text of `build`. Null and blank: the default. */
function ofBuild(
  name: keyof typeof buildDefaults,
  { label, hint = "" }: Pick<MemberField, "label" | "hint">,
  option: readonly [value: string, summary: string],
) {
  const usual = buildDefaults[name];
  const schema = text(`Build ${name}`, 1000)
    .nullable()
    .optional()
    .meta({ description: `Null: ${usual}` });
  return {
    name: `build.${name}`,
    rule: null,
    create: schema,
    change: schema,
    shown: z.string(),
    audited: "values" as const,
    field: { name, label, hint: `${usual} when empty.${hint}` },
    option: [option[0], `${option[1]} (${usual})`, name] as const,
  };
}

/** A setting of the signature, for triggers of type hmac. */
function ofSignature<Schema extends z.ZodType>(
  name: keyof HmacSignature,
  given: Schema,
  {
    rule,
    description = `Default: ${hmacDefaults[name]}`,
    ...field
  }: MemberField & { rule: string | null; description?: string },
  option: readonly [value: string, summary: string],
) {
  const schema = given.optional().meta({ description });
  return {
    name: `verification.${name}`,
    rule,
    create: schema,
    change: schema,
    shown: schema,
    stored: "signature",
    audited: "values" as const,
    field: { ...field, name: `signature_${name}` },
    option: [option[0], `hmac only: ${option[1]}`, `signature_${name}`] as const,
  };
}

type Kept =
  | ("id" | "pipelineId" | "version" | "tokenHash" | "tokenHint" | "tokenSealed" | "isProvider")
  | ("refusedBodiesUntil" | "createdAt" | "createdById" | "updatedAt" | "updatedById" | "deletedAt");

/** Columns that other members fill. */
type Filled = "environmentSealed" | "secretSealed" | "signature";

/** The columns that callers choose, and that a replaced trigger passes on. */
export type TriggerColumns = Omit<Trigger, Kept>;

/** The members of a trigger. Which of them a type allows, `problems.ts` says. */
export const triggerMembers = {
  type: {
    rule: "`webhook`, `github`, `gitlab`, `gitea` (Forgejo too), `bitbucket`, `hmac` or the issue tracker's: `ISSUE_TRACKER` in lower case (`linear`). No request changes it, only that setting",
    create: requiredText("Type", 100).meta({ description: types }),
    change: z
      .string({ error: "Type must be text" })
      .optional()
      .meta({ description: "The present type: it cannot be changed" }),
    shown: z.string().meta({ description: types }),
    audited: null,
    field: { label: "Type", kind: "choice" },
    option: [
      "<type>",
      "the kind of sender: webhook, github, gitlab, gitea, bitbucket, the issue tracker (linear) or hmac",
    ],
  },
  label: {
    rule: null,
    create: label,
    change: label.optional(),
    shown: z.string(),
    audited: "values",
    field: { label: "Label", hint: "Its name in the list of triggers." },
    option: ["<text>", "its name in lists"],
  },
  enabled: {
    rule: null,
    create: enabled.default(true),
    change: enabled.optional(),
    default: true,
    shown: z.boolean(),
    audited: "values",
  },
  buildBranch: ofBuild("branch", { label: "Branch" }, ["<branch>", "the branch of its builds"]),
  buildCommit: ofBuild("commit", { label: "Commit" }, ["<commit>", "the commit of its builds"]),
  buildMessage: ofBuild(
    "message",
    { label: "Build message", hint: " Payloads do not change branch, commit and message." },
    ["<text>", "the message of its builds"],
  ),
  environment: {
    name: "build.environment",
    rule: "at most 100 names to text, values of 64 KB together; not `SIGNALBOX` or `SIGNALBOX_…`. A trigger shows the names in `environment_variables`; its builds also show the values",
    create: environmentMember,
    change: environmentMember,
    shownAs: "build.environment_variables",
    shown: z.array(z.string()).meta({ description: "Their names. The values are in `env` of the builds" }),
    stored: "environmentSealed",
    audited: "name",
    field: { label: "Environment variables", name: "environment", kind: "code" },
    option: ["<NAME=value>", "a variable of its builds; readers of builds see it (repeatable)", "env"],
  },
  filter: {
    name: "filter.expression",
    rule: "a [filter](../webhooks/README.md#filters); needs the feature `webhook_filtering`. Without it a filter still applies, and can only be removed",
    create: expression,
    change: expression,
    shown: z.string().meta({ description: "CEL" }),
    audited: "values",
    field: { label: "Filter", name: "filter" },
    option: ["<expression>", "build only what this CEL expression lets through", "filter"],
  },
  strategy: {
    name: "verification.strategy",
    rule: "`hmac`. `verification` is null without a secret: always for `webhook`, never for `hmac`",
    create: strategy,
    change: z
      .preprocess((given) => given || undefined, strategy.optional())
      .transform(() => "hmac" as const)
      .meta(stays),
    shown: z.literal("hmac"),
    audited: null,
  },
  secret: {
    name: "verification.secret",
    rule: "a trigger shows its last two characters in `secret_hint`",
    create: secret,
    change: secret.optional().meta(stays),
    shownAs: "verification.secret_hint",
    shown: z.string(),
    stored: "secretSealed",
    audited: "name",
    field: { label: "Secret", name: "secret", kind: "code" },
    option: ["<secret>", "verify deliveries with this signing secret", "secret"],
  },
  header: ofSignature(
    "header",
    requiredText("Verification header", 100).regex(
      /^[\w!#$%&'*+.^`|~-]*$/,
      "Verification header must be the name of a header, such as X-Signature",
    ),
    {
      label: "Header of the signature",
      rule: "with `algorithm`, `encoding` and `prefix` the form of the [signature](../webhooks/README.md#signatures); for `hmac` only",
    },
    ["<name>", "the header of the signature (X-Signature)"],
  ),
  algorithm: ofSignature(
    "algorithm",
    z.enum(hmacAlgorithms, {
      error: `Verification algorithm must be one of ${hmacAlgorithms.join(", ")}`,
    }),
    { label: "Algorithm", rule: null },
    ["<name>", "sha256, sha1 or sha512 (sha256)"],
  ),
  encoding: ofSignature(
    "encoding",
    z.enum(hmacEncodings, {
      error: `Verification encoding must be one of ${hmacEncodings.join(", ")}`,
    }),
    { label: "Encoding", rule: null },
    ["<name>", "hex or base64 (hex)"],
  ),
  prefix: ofSignature(
    "prefix",
    text("Verification prefix", 100).regex(
      /^(?! )[ -~]*$/,
      "Verification prefix must be ASCII text that does not start with a space",
    ),
    {
      label: "Prefix",
      kind: "code",
      hint: "The text before the encoded HMAC, such as sha256=. It may be empty.",
      rule: null,
      description: "The text before the encoded HMAC",
    },
    ["<text>", "what comes before the encoded HMAC (nothing)"],
  ),
} satisfies Members<Trigger, Kept | Filled, "environment" | "strategy" | "secret" | keyof HmacSignature>;

type All = Given<typeof triggerMembers, "create">;
/** Null: none, or the default. Verification that is given has a strategy; it is null with all its members. */
export type TriggerChange = { [Column in keyof All]?: All[Column] | null | undefined };
export type NewTrigger = TriggerChange & Pick<All, "type" | "label">;

const trigger: Objects = {
  "": (shape) => only("Trigger", shape),
  build: ({ message, commit, branch, environment }) =>
    only("Build", { message, commit, branch, environment }).optional(), // in the contract's order
  filter: (shape) => only("Filter", shape).nullish(),
};
const verification = (shape: Record<string, z.ZodType>) => only("Verification", shape).nullish();

/** The objects of bodies. They refuse unknown members. */
export const triggerObjects: Record<Request, Objects> = {
  create: {
    ...trigger,
    verification: (shape) =>
      verification(shape).meta({
        description: "For hmac triggers required; header, algorithm, encoding and prefix are for these only",
      }),
  },
  change: {
    ...trigger,
    filter: (shape) => only("Filter", shape).nullish().meta({ description: "Null: every delivery builds" }),
    verification: (shape) =>
      verification(shape).meta({ description: "Null: deliveries are no longer verified" }),
  },
};
export const newTrigger = inputOf(triggerMembers, "create", triggerObjects.create);
export const triggerChange = inputOf(triggerMembers, "change", triggerObjects.change);
