import { z } from "zod";
import { anything, documentationOf, isMap } from "../../collections.ts";

// Forms that members of steps may have.

type Kind = "text" | "number" | "boolean" | "object" | "list";

/** Null counts as absent. */
export function nullable<T>(schema: z.ZodType<T>) {
  return schema.nullish().transform((given) => given ?? undefined);
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

/** Accepts several kinds of values. */
export function oneOf<Forms extends { [K in Kind]?: z.ZodType }>(forms: Forms, error: string) {
  return choice(forms as Forms & Record<string, z.ZodType>, (given) => {
    const form = kindOf(given);
    return Object.hasOwn(forms, form) ? { form, value: given } : { problem: error };
  }) as unknown as z.ZodType<OutputOf<Forms>>;
}

type OutputOf<Forms> = { [K in keyof Forms]: Forms[K] extends z.ZodType<infer T> ? T : never }[keyof Forms];

function kindOf(value: unknown): Kind {
  if (Array.isArray(value)) return "list";
  if (typeof value === "string") return "text";
  return value === null ? ("null" as Kind) : (typeof value as Kind);
}

/** True and false, also as text: agents replace variables in a pipeline by text. */
export function truth(name: string) {
  const error = `${name} must be true or false`;
  return z.preprocess((given) => truths.get(given) ?? given, z.boolean({ error }));
}

const truths = new Map<unknown, boolean>([
  ["true", true],
  ["false", false],
]);

/** Accepts digits as text too: agents replace variables in a pipeline by text. */
export function wholeNumber(name: string, min: number, max: number) {
  const error = `${name} must be a whole number from ${min.toLocaleString("en")} to ${max.toLocaleString("en")}`;
  return z.preprocess(digitsToNumber, z.int({ error }).min(min, { error }).max(max, { error }));
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
