import { z } from "zod";
import { environmentSchema } from "../pipelines/environment.ts";
import { requiredText, text } from "../validation.ts";
import { hmacAlgorithms, hmacEncodings } from "../vocabulary.ts";
import { maxExpressionBytes } from "./filter/compile.ts";

export const triggerLabel = requiredText("Label", 255);

/** Null or blank: `buildDefaults`. */
export const buildText = {
  message: text("Build message", 1000).nullable(),
  commit: text("Build commit", 1000).nullable(),
  branch: text("Build branch", 1000).nullable(),
};

export const environment = environmentSchema("Environment");

export const signingSecret = requiredText("Secret", 1000);

/** The members of an `HmacSignature`, each with a default. */
export const signatureMembers = {
  header: requiredText("Verification header", 100).regex(
    /^[\w!#$%&'*+.^`|~-]*$/,
    "Verification header must be the name of a header, such as X-Signature",
  ),
  algorithm: z.enum(hmacAlgorithms, {
    error: `Verification algorithm must be one of ${hmacAlgorithms.join(", ")}`,
  }),
  encoding: z.enum(hmacEncodings, {
    error: `Verification encoding must be one of ${hmacEncodings.join(", ")}`,
  }),
  prefix: text("Verification prefix", 100).regex(
    /^(?! )[ -~]*$/,
    "Verification prefix must be ASCII text that does not start with a space",
  ),
};

const signature = z.object(signatureMembers).partial();

export type SignatureChange = z.infer<typeof signature>;

/** The compiler also counts bytes: a character may have four. */
export const filterExpression = requiredText("Filter expression", maxExpressionBytes);

export const newTrigger = z.object({
  type: requiredText("Type", 100),
  label: triggerLabel,
  enabled: z.boolean(),
  ...buildText,
  environment,
  /** Null: every delivery builds. */
  filter: filterExpression.nullable(),
  /** Null: not verified. */
  secret: signingSecret.nullable(),
  /** Null: the defaults, or those of the type. */
  signature: signature.nullable(),
});

export type NewTrigger = z.infer<typeof newTrigger>;

/** The members of a trigger that gives none: every delivery builds, with `buildDefaults`. */
export const plainTrigger = {
  type: "webhook",
  enabled: true,
  message: null,
  commit: null,
  branch: null,
  environment: {},
  filter: null,
  secret: null,
  signature: null,
} satisfies Omit<NewTrigger, "label">;

/** Absent members stay. */
export interface TriggerChange extends Partial<Omit<NewTrigger, "secret" | "signature">> {
  /** Null removes verification; what is absent stays. */
  verification?: { secret?: string; signature?: SignatureChange } | null;
}
