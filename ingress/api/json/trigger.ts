import { z } from "zod";
import type { User } from "../../../shared/accounts/user-store.ts";
import type { Cipher } from "../../../shared/crypto/cipher.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { api, endpointUrl } from "../../../shared/settings/urls.ts";
import { maxExpressionBytes } from "../../../shared/triggers/filter/compile.ts";
import {
  buildText,
  environment,
  filterExpression,
  type NewTrigger,
  newTrigger,
  type SignatureChange,
  signatureMembers,
  signingSecret,
  type TriggerChange,
  triggerLabel,
} from "../../../shared/triggers/input.ts";
import { environmentOf, lastTwoOf, secretOf } from "../../../shared/triggers/members.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { buildDefaults, hmacDefaults, typeOfTrigger } from "../../../shared/triggers/types.ts";
import { text } from "../../../shared/validation.ts";
import * as field from "../../operations/fields.ts";
import { only } from "./only.ts";
import { presentUserById, userSchema } from "./user.ts";

/** The members that verification has for hmac triggers only. */
const signature = {
  header: signatureMembers.header.optional().meta({ description: `Default: ${hmacDefaults.header}` }),
  algorithm: signatureMembers.algorithm
    .optional()
    .meta({ description: `Default: ${hmacDefaults.algorithm}` }),
  encoding: signatureMembers.encoding.optional().meta({ description: `Default: ${hmacDefaults.encoding}` }),
  prefix: signatureMembers.prefix.optional().meta({ description: "The text before the encoded HMAC" }),
};

export const triggerSchema = z
  .object({
    id: field.id,
    url: field.url,
    type: z
      .string()
      .meta({ description: "webhook, github, gitlab, gitea, bitbucket, the issue tracker or hmac" }),
    label: z.string(),
    enabled: z.boolean(),
    build: z.object({
      message: z.string(),
      commit: z.string(),
      branch: z.string(),
      environment_variables: z
        .array(z.string())
        .meta({ description: "Their names. The values are in `env` of the builds" }),
    }),
    filter: z.object({ expression: z.string().meta({ description: "CEL" }) }).nullable(),
    verification: z
      .object({
        strategy: z.literal("hmac"),
        secret_hint: z.string(),
        ...signature,
      })
      .nullable()
      .meta({ description: "Triggers of type hmac have header, algorithm, encoding and prefix too" }),
    endpoint_url_hint: z.string(),
    endpoint_url: field.url.optional().meta({ description: "In the answer to its creation only" }),
    created_at: field.timestamp,
    created_by: userSchema,
    updated_at: field.timestamp,
    updated_by: userSchema,
    pipeline: z.object({ id: field.id, slug: z.string(), url: field.url }),
  })
  .meta({ id: "PipelineTrigger" });

export interface TriggerContext {
  config: Config;
  cipher: Cipher;
  org: string;
  pipeline: PipelineFacts;
  users: ReadonlyMap<string, User>;
}

/** @param token of its address, in the answer to the creation only */
export function presentTrigger(
  { config, cipher, org, pipeline, users }: TriggerContext,
  trigger: Trigger,
  token?: string,
) {
  const address = { org, slug: pipeline.slug };
  const { signature } = trigger;
  const secret = secretOf(cipher, trigger);
  return {
    id: trigger.id,
    url: api.trigger(config, address, trigger.id),
    type: typeOfTrigger(config.issueTracker, trigger).name,
    label: trigger.label,
    enabled: trigger.enabled,
    build: {
      message: trigger.buildMessage ?? buildDefaults.message,
      commit: trigger.buildCommit ?? buildDefaults.commit,
      branch: trigger.buildBranch ?? buildDefaults.branch,
      environment_variables: Object.keys(environmentOf(cipher, trigger)),
    },
    filter: trigger.filter === null ? null : { expression: trigger.filter },
    verification:
      secret === undefined ? null : { strategy: "hmac", secret_hint: hint(lastTwoOf(secret)), ...signature },
    endpoint_url_hint: hint(trigger.tokenHint),
    ...(token === undefined ? {} : { endpoint_url: endpointUrl(config, token) }),
    created_at: trigger.createdAt,
    created_by: presentUserById(config, users, trigger.createdById),
    updated_at: trigger.updatedAt,
    updated_by: presentUserById(config, users, trigger.updatedById),
    pipeline: { id: pipeline.id, slug: pipeline.slug, url: api.pipeline(config, address) },
  };
}

function hint(lastTwo: string): string {
  return "X".repeat(20) + lastTwo;
}

/** The users in the JSON of a trigger. */
export function userIdsOfTrigger({ createdById, updatedById }: Trigger): string[] {
  return [createdById, updatedById];
}

const enabled = z.boolean({ error: "Enabled must be true or false" });

const build = only("Build", {
  message: buildText.message.optional().meta({ description: "Null: Triggered build" }),
  commit: buildText.commit.optional().meta({ description: "Null: HEAD" }),
  branch: buildText.branch.optional().meta({ description: "Null: main" }),
  environment: environment.optional().meta({
    description:
      "Variables of the build; replaces the whole set. Tokens with the scope read_builds can read them in `env` of a build: do not put secrets here",
  }),
});

const expression = filterExpression.meta({ description: `CEL, at most ${maxExpressionBytes} bytes` });
const filter = only("Filter", { expression }).nullish();

const strategy = z.literal("hmac", { error: "Verification strategy must be hmac" });

const newVerification = only("Verification", { strategy, secret: signingSecret, ...signature })
  .nullish()
  .meta({
    description: "For hmac triggers required; header, algorithm, encoding and prefix are for these only",
  });
const changedVerification = only("Verification", {
  strategy: z
    .preprocess((given) => given || undefined, strategy.optional())
    .meta({
      description: "Absent: the present one stays",
    }),
  secret: signingSecret.optional().meta({ description: "Absent: the present one stays" }),
  ...signature,
}).nullish();

export const createTriggerBody = only("Trigger", {
  type: newTrigger.shape.type.meta({
    description: "webhook, github, gitlab, gitea, bitbucket, the issue tracker or hmac",
  }),
  label: triggerLabel,
  enabled: enabled.default(true),
  build: build.optional(),
  filter,
  verification: newVerification,
}).transform(
  ({ build = {}, filter, verification, ...rest }): NewTrigger => ({
    ...rest,
    message: build.message ?? null,
    commit: build.commit ?? null,
    branch: build.branch ?? null,
    environment: build.environment ?? {},
    filter: filter?.expression ?? null,
    secret: verification?.secret ?? null,
    signature: signatureOf(verification) ?? null,
  }),
);

/** The members that `newTriggerProblems` checks. */
export function checkedNewTrigger({
  type,
  filter,
  verification,
}: Partial<z.input<typeof createTriggerBody>>) {
  return {
    type,
    filter: filter?.expression ?? null,
    secret: verification?.secret ?? null,
    signature: signatureOf(verification) ?? null,
  };
}

/** The members that `triggerChangeProblems` checks. */
export function checkedChange({
  type,
  filter,
  verification,
}: Partial<z.input<typeof updateTriggerBody>>): TriggerChange {
  return withoutAbsent<TriggerChange>({
    type,
    filter: filter?.expression,
    verification: verification ? withoutStrategy(verification) : undefined,
  });
}

export const updateTriggerBody = only("Trigger", {
  type: z
    .string({ error: "Type must be text" })
    .optional()
    .meta({ description: "The present type: it cannot be changed" }),
  label: triggerLabel.optional(),
  enabled: enabled.optional(),
  build: build.optional(),
  filter: filter.meta({ description: "Null: every delivery builds" }),
  verification: changedVerification.meta({ description: "Null: deliveries are no longer verified" }),
}).transform(
  ({ build = {}, filter, verification, ...rest }): TriggerChange =>
    withoutAbsent<TriggerChange>({
      ...rest,
      ...build,
      filter: filter === null ? null : filter?.expression,
      verification: verification && withoutStrategy(verification),
    }),
);

type Verification = SignatureChange & { secret?: string | undefined };

function withoutStrategy(verification: Verification & object) {
  return withoutAbsent({ secret: verification.secret, signature: signatureOf(verification) });
}

/** Undefined if none of its members is given. */
function signatureOf(verification: Verification | null | undefined): SignatureChange | undefined {
  const { header, algorithm, encoding, prefix } = verification ?? {};
  const given = withoutAbsent<SignatureChange>({ header, algorithm, encoding, prefix });
  return Object.keys(given).length > 0 ? given : undefined;
}

function withoutAbsent<Change extends object>(
  change: { [K in keyof Change]?: Change[K] | undefined },
): Change {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Change;
}

export const filterTestBody = only("Filter test", {
  expression,
  delivery_id: text("Delivery id", 100).meta({ description: "A delivery whose payload is still kept" }),
});
