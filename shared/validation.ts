import { z } from "zod";

// What fields may hold, with the reason that is told when they hold something else. Each surface puts its own
// bodies together of these.

/** Lengths are checked of text alone: a list of the wrong length is the wrong type, and that is said already. */
const ofText = { when: ({ value }: { value: unknown }) => typeof value === "string" };

/** Text that both databases keep as it is: no NUL, no half of a surrogate pair. */
export function text(name: string, longest: number) {
  return z
    .string({ error: `${name} must be a string` })
    .max(longest, {
      error: `${name} is too long (maximum is ${longest.toLocaleString("en")} characters)`,
      ...ofText,
    })
    .refine((value) => !value.includes("\0") && value.isWellFormed(), `${name} must be text without NUL`);
}

/** Text that must be there, and not be blank. */
export function requiredText(name: string, longest: number) {
  return filled(required(name), name, longest);
}

/** Names of clusters and pipelines. White space around one goes before anything is checked. */
export const clusterName = filled(required("Name").trim(), "Name", 100);
export const pipelineName = clusterName;

function required(name: string) {
  const isMissing = (value: unknown) => value === undefined || value === null;
  return z.string({
    error: ({ input }) => (isMissing(input) ? `${name} can't be blank` : `${name} must be a string`),
  });
}

function filled(schema: z.ZodString, name: string, longest: number) {
  return schema
    .refine((value) => value.trim() !== "", `${name} can't be blank`)
    .max(longest, {
      error: `${name} is too long (maximum is ${longest.toLocaleString("en")} characters)`,
      ...ofText,
    })
    .refine((value) => !value.includes("\0") && value.isWellFormed(), `${name} must be text without NUL`);
}

export const queueKey = z
  .string({
    error: ({ input }) =>
      input === undefined || input === null ? "Key can't be blank" : "Key must be a string",
  })
  .min(1, { error: "Key can't be blank", ...ofText })
  .max(100, { error: "Key is too long (maximum is 100 characters)", ...ofText })
  .regex(/^[A-Za-z0-9_-]*$/, "Key can only contain letters, numbers, hyphens and underscores");

export const queueDescription = text("Description", 2000).nullable();

/** The reasons why a value is not what a schema says. */
export function problemsOf(schema: z.ZodType, value: unknown): string[] {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : parsed.error.issues.map(({ message }) => message);
}
