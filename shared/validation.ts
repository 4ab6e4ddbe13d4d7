import { z } from "zod";
import type { Problem } from "./refusal.ts";

// Checks of members, with their messages. Each surface builds its bodies from them.

/** Zod also checks the length of lists, whose wrong type is reported already. */
const ifString = { when: ({ value }: { value: unknown }) => typeof value === "string" };

/** True if both databases store the text unchanged: no NUL, no lone surrogate. */
export function isStorable(value: string): boolean {
  return !value.includes("\0") && value.isWellFormed();
}

/** No body of ours nests deeper. */
const maxLevels = 100;

/**
 * `isStorable` of all names and texts in a value of JSON that is nested at most 100 levels. Postgres stores others, too, and
 * then reads no member of that document again.
 */
export function isStorableDeep(value: unknown, levels = maxLevels): boolean {
  if (typeof value === "string") return isStorable(value);
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  return Object.entries(value).every(
    ([name, inner]) => isStorable(name) && isStorableDeep(inner, levels - 1),
  );
}

/** Makes a text storable, for callers that could not react to a refusal. */
export function toStorable(value: string): string {
  return value.replaceAll("\0", "").toWellFormed();
}

/** For optional text, where blank and null mean the same. */
export function blankToNull(value: string | null | undefined): string | null {
  return value?.trim() ? value : null;
}

export function text(name: string, maxLength: number) {
  return storable(z.string({ error: `${name} must be text` }), name, maxLength);
}

/** Null and blank count as absent. */
export function optionalText(name: string, maxLength: number) {
  return text(name, maxLength)
    .nullish()
    .transform((given) => blankToNull(given) ?? undefined);
}

export function requiredText(name: string, maxLength: number) {
  return notBlank(required(name), name, maxLength);
}

export const clusterName = notBlank(required("Name").trim(), "Name", 100);
export const pipelineName = clusterName;

export const queueKey = required("Key")
  .min(1, { error: "Key can't be blank", ...ifString })
  .max(100, { error: "Key is too long (maximum is 100 characters)", ...ifString })
  .regex(/^[A-Za-z0-9_:-]*$/, "Key can only contain letters, numbers, hyphens and underscores");

/** An address that git can clone. Null and blank: none. An address must not look like an option of git. */
export const repository = text("Repository", 2000)
  .regex(/^(?!\s*-)[^\p{Cc}]*$/u, "Repository must be an address, without control characters")
  // Git runs a program for `ext::`, and reads files of the agent's machine for `file:`.
  .regex(/^(?!\s*(?:file:|[\w.+-]+::))/i, "Repository must be an address of https or ssh")
  .nullish()
  .transform((given) => (given === undefined ? undefined : (blankToNull(given)?.trim() ?? null)));

/** The description of a cluster, queue or pipeline. */
export const description = text("Description", 2000).nullable();
/** The emoji and the color of a cluster or pipeline. */
export const emoji = text("Emoji", 100).nullish();
export const color = text("Color", 100).nullish();
export const maxNoteLength = 2000;
/** The reason why a queue or an agent is paused. */
export const pauseNote = text("Note", maxNoteLength);

/** The longest text that a schema takes, for the field of a form. */
export function maxLengthOf(schema: z.ZodType): number {
  const { maxLength, anyOf = [] } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const found = maxLength ?? anyOf.map((each) => each.maxLength).find((each) => each !== undefined);
  if (found === undefined) throw new Error("The schema has no longest text.");
  return found;
}

function required(name: string) {
  const isMissing = (value: unknown) => value === undefined || value === null;
  return z.string({
    error: ({ input }) => (isMissing(input) ? `${name} can't be blank` : `${name} must be text`),
  });
}

function notBlank(schema: z.ZodString, name: string, maxLength: number) {
  const filled = schema.refine((value) => value.trim() !== "", `${name} can't be blank`);
  return storable(filled, name, maxLength);
}

function storable(schema: z.ZodString, name: string, maxLength: number) {
  const error = `${name} is too long (maximum is ${maxLength.toLocaleString("en")} characters)`;
  return schema.max(maxLength, { error, ...ifString }).refine(isStorable, `${name} must be text without NUL`);
}

/**
 * Returns the reasons why a value does not match a schema.
 * @param field the member that holds it; absent: it is the whole request
 */
export function problemsOf(schema: z.ZodType, value: unknown, field?: string): Problem[] {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : toProblems(parsed.error, field);
}

/** @param parent the member that holds the value, as in `problemsOf` */
export function toProblems({ issues }: z.ZodError, parent?: string): Problem[] {
  const prefix = parent === undefined ? [] : [parent];
  return issues.map(({ path, message }) => ({ field: [...prefix, ...path].join("."), message }));
}
