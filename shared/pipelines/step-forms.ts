import { z } from "zod";
import { excerpt } from "../refusal.ts";
import { isStorable, optionalText, record, text } from "../validation.ts";

// Forms that members of steps may have.

const maxPluginLength = 1000;
/** Agents get them as one variable, and Linux refuses one of 128 KB. */
const maxPluginsLength = 65_536;

type Kind = "text" | "number" | "boolean" | "object" | "list";

/** Null counts as absent. */
export function nullable<T>(schema: z.ZodType<T>) {
  return schema.nullish().transform((given) => given ?? undefined);
}

/** Accepts several kinds of values. Unlike `z.union` it says the problems of the form that was given. */
export function oneOf<Forms extends { [K in Kind]?: z.ZodType }>(forms: Forms, error: string) {
  const kinds = Object.keys(forms) as Kind[];
  return z.union(Object.values(forms) as z.ZodType<OutputOf<Forms>>[], {
    error: ({ input, errors }) => {
      const problems = (errors as { message: string }[][])[kinds.indexOf(kindOf(input))];
      return problems?.map(({ message }) => message).join(", ") ?? error;
    },
  });
}

type OutputOf<Forms> = { [K in keyof Forms]: Forms[K] extends z.ZodType<infer T> ? T : never }[keyof Forms];

function kindOf(value: unknown): Kind {
  if (Array.isArray(value)) return "list";
  return typeof value === "string" ? "text" : (typeof value as Kind);
}

/** Only true and false. */
export function truth(name: string) {
  return z.boolean({ error: `${name} must be true or false` });
}

/** Accepts digits as text too: agents replace variables in a pipeline by text. */
export function wholeNumber(name: string, min: number, max: number) {
  const error = `${name} must be a whole number from ${min} to ${max.toLocaleString("en")}`;
  return z.preprocess(digitsToNumber, z.int({ error }).min(min, { error }).max(max, { error }));
}

function digitsToNumber(given: unknown): unknown {
  return typeof given === "string" && /^\d{1,9}$/.test(given) ? Number(given) : given;
}

/** Variables of steps may be numbers, booleans and null, as in YAML. */
export function scalarsToText(given: unknown): unknown {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
  const entries = Object.entries(given).map(([name, value]) => [name, scalarToText(value)]);
  return Object.fromEntries(entries);
}

function scalarToText(value: unknown): unknown {
  if (value === null) return "";
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
}

/** The queues that a member names. */
export interface NamedQueues {
  isMap: boolean;
  keys: string[];
}

/** Rules such as `queue=default`. */
export function agentRules(member: string) {
  const error = `${member} must be a list such as queue=default`;
  return z
    .array(z.string({ error }), { error })
    .refine((rules) => rules.every((rule) => rule.startsWith("queue=")), {
      error: `${member} can only name a queue: queue=<key>`,
    })
    .transform((rules): NamedQueues => {
      return { isMap: false, keys: filled(rules.map((rule) => rule.slice("queue=".length))) };
    });
}

/** `{queue: key}`, or rules. */
export function agentQueues(member: string, queue: string) {
  const map = z
    .looseObject({ queue: optionalText(queue, 100) })
    .refine((given) => Object.keys(given).every((name) => name === "queue"), {
      error: ({ input }) => {
        const others = Object.keys(input as object).filter((name) => name !== "queue");
        return `${member} can only name a queue, not ${excerpt(others.join(", "))}`;
      },
    })
    .transform((given): NamedQueues => ({ isMap: true, keys: filled([given.queue]) }));
  return oneOf({ object: map, list: agentRules(member) }, `${member} must be an object or a list`);
}

function filled(keys: (string | undefined)[]): string[] {
  return keys.filter((key) => key !== undefined).filter((key) => key.trim() !== "");
}

const settings = record("Step plugins", z.unknown(), "Step plugins must be objects");

/** The list that agents get. A map from plugins to their settings becomes one too. */
export const pluginList = nullable(
  oneOf(
    {
      list: z.array(
        oneOf(
          { text: text("Step plugins", maxPluginLength), object: settings },
          "Step plugins must be text or objects",
        ),
      ),
      object: settings,
    },
    "Step plugins must be a list",
  )
    .refine((given) => isStorableDeep(given), "Step plugins must be text without NUL")
    .refine((given) => JSON.stringify(given).length <= maxPluginsLength, "Step plugins are larger than 64 KB")
    .transform((given): unknown[] =>
      Array.isArray(given) ? given : Object.entries(given).map(([name, value]) => ({ [name]: value })),
    ),
);

/** Bodies nest at most 100 levels. */
function isStorableDeep(value: unknown): boolean {
  if (typeof value === "string") return isStorable(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, inner]) => isStorable(name) && isStorableDeep(inner));
}
