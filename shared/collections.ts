import { z } from "zod";
import { andMore, maxProblems } from "./refusal.ts";

// Lists and maps that callers give. Zod's own read all entries: 60 KB of wrong ones took half a second. These look at the
// number of entries first, and stop reading once there are more problems than an answer names.

interface Bounds {
  /** Of a value that is no list, or no map. */
  error: string;
  max?: number;
  /** Of more than `max` entries. Default: the error. */
  tooMany?: string;
}

export function listOf<Item extends z.ZodType>(item: Item, { error, max, tooMany = error }: Bounds) {
  const documented = z.array(item);
  return anything()
    .transform((given, context): z.output<Item>[] => {
      if (!Array.isArray(given)) return refuse(context, error);
      if (given.length > (max ?? given.length)) return refuse(context, tooMany);
      return parseEntries(given.entries(), item, context).map(([, value]) => value);
    })
    .meta(documentationOf(max === undefined ? documented : documented.max(max)));
}

/** A list of text without a schema for each entry: it may have thousands. Names the first entry that is no text. */
export function textList(error: string) {
  return anything()
    .transform((given, context): string[] => {
      if (!Array.isArray(given)) return refuse(context, error);
      const wrong = given.findIndex((each) => typeof each !== "string");
      if (wrong === -1) return given;
      context.addIssue({ code: "custom", message: error, path: [wrong] });
      return z.NEVER;
    })
    .meta(documentationOf(z.array(z.string())));
}

/** A map of any names. Zod's own records drop the name `__proto__` without an error. */
export function record<Value extends z.ZodType>(
  member: string,
  value: Value,
  { error, max, tooMany = error }: Bounds,
) {
  return anything()
    .transform((given, context): Record<string, z.output<Value>> => {
      if (!isMap(given)) return refuse(context, error);
      const entries = Object.entries(given);
      if (entries.length > (max ?? entries.length)) return refuse(context, tooMany);
      if (Object.hasOwn(given, "__proto__")) context.addIssue(`${member} cannot have the name __proto__`);
      return Object.fromEntries(parseEntries(entries, value, context));
    })
    .meta(documentationOf(z.record(z.string(), value)));
}

function refuse(context: z.core.$RefinementCtx, message: string): never {
  context.addIssue(message);
  return z.NEVER;
}

export interface ProblemAt {
  path: PropertyKey[];
  message: string;
}

/** Reads entries up to the first problem that no answer names. Gives the sound ones. */
export function readEntries<Key extends PropertyKey, Value extends z.ZodType>(
  entries: Iterable<[Key, unknown]>,
  schema: Value,
): { sound: [Key, z.output<Value>][]; problems: ProblemAt[] } {
  const sound: [Key, z.output<Value>][] = [];
  const problems: ProblemAt[] = [];
  for (const [key, given] of entries) {
    if (problems.length > maxProblems) {
      problems.push({ path: [], message: andMore });
      break;
    }
    const { data, error } = schema.safeParse(given);
    if (!error) sound.push([key, data]);
    else for (const { path, message } of error.issues) problems.push({ path: [key, ...path], message });
  }
  return { sound, problems };
}

/** As `readEntries`. The problems are issues of the schema that it is part of. */
export function parseEntries<Key extends PropertyKey, Value extends z.ZodType>(
  entries: Iterable<[Key, unknown]>,
  schema: Value,
  context: z.core.$RefinementCtx,
): [Key, z.output<Value>][] {
  const { sound, problems } = readEntries(entries, schema);
  for (const problem of problems) context.addIssue({ code: "custom", ...problem });
  return sound;
}

/** Unlike `z.unknown`, it gives what is absent to the checks behind it. */
export function anything() {
  return z.custom<unknown>(() => true);
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The JSON schema of what callers give, made when it is first read: the schemas of steps contain each other. */
export function documentationOf(schema: z.ZodType): Record<string, unknown> {
  let made: Record<string, unknown> | undefined;
  const read = () => (made ??= describeInput(schema));
  return new Proxy(
    {},
    {
      ownKeys: () => Reflect.ownKeys(read()),
      getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(read(), name),
      get: (_, name) => Reflect.get(read(), name),
    },
  );
}

function describeInput(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return json;
}
