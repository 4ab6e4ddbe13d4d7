import { z } from "zod";

// Bodies below 64 KB with much that is wrong, at every place that a JSON schema names.

interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
}

/** Lists have this many copies of what is put into them. */
type Put = (value: unknown, copies: number) => unknown;

const maxBytes = 60_000;
const maxDepth = 9;

/** Repeats a value within the bytes and the number of values that a request may have. */
function many(value: unknown): unknown[] {
  const bytes = Buffer.byteLength(JSON.stringify(value)) + 1;
  return Array(Math.min(9000, Math.floor(maxBytes / bytes))).fill(value);
}

function mapOf(name: (index: number) => string, value: unknown): object {
  const bytes = Buffer.byteLength(JSON.stringify({ [name(1000)]: value }));
  const amount = Math.min(9000, Math.floor(maxBytes / bytes));
  return Object.fromEntries(Array.from({ length: amount }, (_, index) => [name(index), value]));
}

const large: unknown[] = [
  ...[0, {}, [], "", "-", { a: 0 }].map(many),
  mapOf((index) => `zz${index}`, 0),
  mapOf((index) => `- ${index}`, []),
  mapOf((index) => `é${index}`.repeat(50), 0),
  ...["x", "\u0001", "((", "== "].map((text) => text.repeat(maxBytes / 6 / text.length)),
  JSON.parse("[".repeat(85) + "]".repeat(85)),
];

/** Of these each entry of a list has one. */
const wrong: unknown[] = [1.5, [{}], { a: [] }, "\u0000", "(("];
const copies = 60;

/** A large value at each place of a body, then small ones in each entry of its lists. */
export function* hostileBodies(schema: z.ZodType): Generator<unknown> {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Schema;
  const known = new Set<string>();
  for (const [path, put] of placesOf(json, json.$defs ?? {})) {
    if (known.has(path)) continue;
    known.add(path);
    for (const value of large) yield put(value, 1);
    for (const value of wrong) yield put(value, copies);
  }
}

function* placesOf(
  schema: Schema,
  defs: Record<string, Schema>,
  path = "",
  put: Put = (value) => value,
  within: Schema[] = [],
): Generator<[path: string, put: Put]> {
  if (within.length > maxDepth) return;
  const inner = [...within, schema];
  const found = schema.$ref === undefined ? undefined : defs[schema.$ref.split("/").at(-1) ?? ""];
  if (found && !within.includes(found)) yield* placesOf(found, defs, path, put, inner);
  for (const form of [schema.anyOf, schema.oneOf, schema.allOf].flat())
    if (form) yield* placesOf(form, defs, path, put, inner);
  yield [path, put];
  if (schema.items)
    yield* placesOf(
      schema.items,
      defs,
      `${path}[]`,
      (value, copies) => put(Array(copies).fill(value), within.length > 2 ? 1 : copies),
      inner,
    );
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    yield* placesOf(
      member,
      defs,
      `${path}.${name}`,
      (value, copies) => put({ [name]: value }, copies),
      inner,
    );
  if (typeof schema.additionalProperties === "object")
    yield* placesOf(
      schema.additionalProperties,
      defs,
      `${path}.*`,
      (value, copies) => put({ a: value }, copies),
      inner,
    );
}
