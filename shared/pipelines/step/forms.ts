import { z } from "zod";
import { anything, documentationOf, isMap } from "../../collections.ts";
import * as validation from "../../validation.ts";

// Forms that members of steps may have.

type Kind = "text" | "number" | "boolean" | "object" | "list";

/** Null counts as absent. */
export function nullable<T>(schema: z.ZodType<T>) {
  return schema.nullish().transform((given) => given ?? undefined);
}

/** For numbers and flags: null and empty text count as absent. Variables may be empty. */
export function unlessEmpty<T>(schema: z.ZodType<T>) {
  return nullable(
    z.preprocess(
      (given) => (typeof given === "string" && given.trim() === "" ? null : given),
      schema.nullable(),
    ),
  ) as z.ZodType<T | undefined>;
}

/** Text of a step. Numbers and booleans are text, as YAML has them without quotes. */
export function text(name: string, maxLength: number) {
  return z.preprocess(toText, validation.text(name, maxLength));
}

/** Null and blank count as absent. */
export function optionalText(name: string, maxLength: number) {
  return z.preprocess(toText, validation.optionalText(name, maxLength)).optional();
}

/** A list of text. Lists inside it, as aliases of YAML make them, are part of it, and nulls are none. */
export function textList(error: string) {
  return anything()
    .transform((given, context): string[] => {
      const texts = (given as unknown[]).flat(maxLevels).filter((each) => each !== null);
      const wrong = texts.find((each) => scalarToText(each) === undefined);
      if (wrong === undefined) return texts.map(String);
      const at = (given as unknown[]).findIndex((each) => [each].flat(maxLevels).includes(wrong));
      // YAML reads `- echo "a: b"` as a map, and its author sees text.
      const message = isMap(wrong) && Object.keys(wrong).length === 1 ? `${error}: ${colonAdvice}` : error;
      context.addIssue({ code: "custom", message, path: [at] });
      return z.NEVER;
    })
    .meta(documentationOf(z.array(z.string())));
}

const colonAdvice = "in YAML, put a text that has a colon and a blank in quotes, or after |";

/** No body of ours nests deeper. */
const maxLevels = 100;

function toText(given: unknown): unknown {
  return scalarToText(given) ?? given;
}

export type Chosen<Name> = { form: Name; value: unknown } | { problem: string; path?: string[] };

/** Parses a value by the form that is chosen for it. Unlike `z.union` it says the problems of this form, and where. */
export function choice<Forms extends Record<string, z.ZodType>>(
  forms: Forms,
  choose: (given: unknown) => Chosen<keyof Forms>,
) {
  return anything()
    .transform((given, context): z.output<Forms[keyof Forms]> => {
      const chosen = choose(given);
      if ("problem" in chosen) {
        context.addIssue({ code: "custom", message: chosen.problem, path: chosen.path ?? [] });
        return z.NEVER;
      }
      const parsed = (forms[chosen.form] as z.ZodType).safeParse(chosen.value);
      if (parsed.success) return parsed.data as z.output<Forms[keyof Forms]>;
      for (const { message, path } of parsed.error.issues)
        context.addIssue({ code: "custom", message, path: [...path] });
      return z.NEVER;
    })
    .meta(documentationOf(z.union(Object.values(forms))));
}

/** Accepts several kinds of values. A number or boolean that is none of them is text. */
export function oneOf<Forms extends { [K in Kind]?: z.ZodType }>(forms: Forms, error: string) {
  return choice(forms as Forms & Record<string, z.ZodType>, (given) => {
    const form = kindOf(given);
    if (Object.hasOwn(forms, form)) return { form, value: given };
    const asText = Object.hasOwn(forms, "text") ? scalarToText(given) : undefined;
    return asText === undefined ? { problem: error } : { form: "text", value: asText };
  }) as unknown as z.ZodType<OutputOf<Forms>>;
}

type OutputOf<Forms> = { [K in keyof Forms]: Forms[K] extends z.ZodType<infer T> ? T : never }[keyof Forms];

function kindOf(value: unknown): Kind {
  if (Array.isArray(value)) return "list";
  if (typeof value === "string") return "text";
  return value === null ? ("null" as Kind) : (typeof value as Kind);
}

/** True and false, also as text. Empty: absent. */
export function truth(name: string) {
  const error = `${name} must be true or false`;
  return unlessEmpty(z.preprocess((given) => truthOf(given) ?? given, z.boolean({ error })));
}

/** Agents replace variables in a pipeline by text, and in YAML 1.1 `yes` and `no` are no text. Undefined: it is neither. */
export function truthOf(given: unknown): boolean | undefined {
  return typeof given === "string" ? truths.get(given.toLowerCase()) : undefined;
}

const truths = new Map([
  ["true", true],
  ["yes", true],
  ["on", true],
  ["false", false],
  ["no", false],
  ["off", false],
]);

/** Accepts digits as text too: agents replace variables in a pipeline by text. Empty: absent. */
export function wholeNumber(name: string, min: number, max: number) {
  const error = `${name} must be a whole number from ${min.toLocaleString("en")} to ${max.toLocaleString("en")}`;
  return unlessEmpty(z.preprocess(digitsToNumber, z.int({ error }).min(min, { error }).max(max, { error })));
}

function digitsToNumber(given: unknown): unknown {
  return typeof given === "string" && /^-?\d{1,10}$/.test(given) ? Number(given) : given;
}

/** Variables of steps may be numbers, booleans and null, as in YAML. */
export function scalarsToText(given: unknown): unknown {
  if (!isMap(given)) return given;
  const entries = Object.entries(given).map(([name, value]) => [name, scalarToText(value) ?? value]);
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? ""]));
}

/** Undefined: it is no text, number or boolean. */
export function scalarToText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}
