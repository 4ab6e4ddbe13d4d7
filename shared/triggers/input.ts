import { z } from "zod";
import { excerpt } from "../refusal.ts";
import { isStorable, requiredText, text } from "../validation.ts";
import { reservedVariable } from "../vocabulary.ts";

const maxVariables = 100;
const maxNameLength = 255;
/** Of all values together, without their names. */
const maxEnvironmentBytes = 64 * 1024;
const maxValueProblems = 5;

export const triggerLabel = requiredText("Label", 255);

/** Null or blank: `buildDefaults`. */
export const buildText = {
  message: text("Build message", 1000).nullable(),
  commit: text("Build commit", 1000).nullable(),
  branch: text("Build branch", 1000).nullable(),
};

const variables = z
  .record(z.string(), z.unknown(), { error: "Environment must be an object of names and text" })
  .superRefine((value, context) => {
    for (const message of variableProblems(value)) context.addIssue(message);
  })
  .transform((value) => value as Record<string, string>)
  .meta({ additionalProperties: { type: "string" } });

function variableProblems(variables: Record<string, unknown>): string[] {
  const names = Object.keys(variables);
  const values = Object.values(variables).filter((value) => typeof value === "string");
  const bytes = values.reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  const problems = [
    names.some((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) &&
      "Environment names must be letters, digits and _, not starting with a digit",
    names.some((name) => name.length > maxNameLength) &&
      `Environment names are too long (maximum is ${maxNameLength} characters)`,
    names.some((name) => reservedVariable.test(name)) &&
      "Environment names cannot be SIGNALBOX or start with SIGNALBOX_, which every build sets itself",
    names.length > maxVariables && `Environment has more than ${maxVariables} variables`,
    bytes > maxEnvironmentBytes && "Environment values are larger than 64 KB in all",
  ];
  return [...problems.filter((problem) => problem !== false), ...valueProblems(variables)];
}

function valueProblems(variables: Record<string, unknown>): string[] {
  const problems = Object.entries(variables).flatMap(([name, value]) => {
    const words = `Environment variable ${excerpt(name)} must be text`;
    if (typeof value !== "string") return `${words}, not ${typeInWords(value)}`;
    return isStorable(value) ? [] : `${words} without NUL`;
  });
  const more = problems.length - maxValueProblems;
  return more > 0 ? [...problems.slice(0, maxValueProblems), `and ${more} more`] : problems;
}

function typeInWords(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return (
    { boolean: "true or false", number: "a number", object: "an object" }[typeof value as string] ?? "this"
  );
}

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
