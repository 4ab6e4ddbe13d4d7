import { z } from "zod";
import { environmentSchema } from "../pipelines/environment.ts";
import { requiredText, text } from "../validation.ts";

export const triggerLabel = requiredText("Label", 255);

/** Null or blank: `buildDefaults`. */
export const buildText = {
  message: text("Build message", 1000).nullable(),
  commit: text("Build commit", 1000).nullable(),
  branch: text("Build branch", 1000).nullable(),
};

export const environment = environmentSchema("Environment");

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

/** Every delivery builds, with `buildDefaults`. */
export const plainTrigger = {
  type: "webhook",
  enabled: true,
  message: null,
  commit: null,
  branch: null,
  environment: {},
  filter: null,
  secret: null,
} satisfies Omit<NewTrigger, "label">;

/** Absent members stay. */
export interface TriggerChange extends Partial<Omit<NewTrigger, "secret">> {
  /** Null removes verification; no secret keeps the present one. */
  verification?: { secret?: string } | null;
}
