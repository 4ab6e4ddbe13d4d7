import { z } from "zod";
import { requiredText, text } from "../validation.ts";

const maxVariables = 100;
const maxEnvironmentBytes = 64 * 1024;

export const triggerLabel = requiredText("Label", 255);

/** Null or blank: `buildDefaults`. */
export const buildText = {
  message: text("Build message", 1000).nullable(),
  commit: text("Build commit", 1000).nullable(),
  branch: text("Build branch", 1000).nullable(),
};

const variables = z
  .record(z.string(), text("Environment variables", maxEnvironmentBytes), {
    error: "Environment must be an object",
  })
  .refine(
    (value) => Object.keys(value).every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)),
    "Environment names must be letters, digits and _, not starting with a digit",
  )
  .refine(
    (value) => Object.keys(value).length <= maxVariables,
    `Environment has more than ${maxVariables} variables`,
  )
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= maxEnvironmentBytes,
    "Environment is larger than 64 KB",
  );

/** Zod records drop the name `__proto__` without an error. */
export const environment = z.preprocess((value, context) => {
  if (typeof value === "object" && value !== null && Object.hasOwn(value, "__proto__"))
    context.addIssue("Environment cannot have the name __proto__");
  return value;
}, variables);

export const signingSecret = requiredText("Secret", 1000);

export const filterExpression = requiredText("Filter expression", 1000);

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
});

export type NewTrigger = z.infer<typeof newTrigger>;

/** Absent members stay. */
export interface TriggerChange extends Partial<Omit<NewTrigger, "secret">> {
  /** Null removes verification; no secret keeps the present one. */
  verification?: { secret?: string } | null;
}
