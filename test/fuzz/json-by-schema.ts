import fc from "fast-check";
import { seldom } from "./fuzz.ts";
import { oddJson, oddText } from "./odd-text.ts";

/** The parts of JSON Schema that the OpenAPI document uses. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

/** Values that a schema cannot know, such as ids, by member. */
export type Known = Record<string, string[]>;

export interface Names {
  schemas: Record<string, Schema>;
  known: Known;
}

type JsonText = fc.Arbitrary<string>;

/** JSON text that mostly fits the schema: any value in it may be odd, missing, twice there or unexpected. */
export function jsonBySchema(schema: Schema, names: Names): JsonText {
  return seldom(oddJson, fitting(schema, names), 24);
}

function fitting(schema: Schema, names: Names): JsonText {
  if (schema.$ref) return fitting(names.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}, names);
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants) return fc.oneof(...variants.map((each) => jsonBySchema(each, names)));
  if (schema.allOf) return fitting(Object.assign({}, ...schema.allOf), names);
  if (schema.const !== undefined) return fc.constant(JSON.stringify(schema.const));
  if (schema.enum) return fc.constantFrom(...schema.enum.map((each) => JSON.stringify(each)));
  return fc.oneof(...[schema.type ?? "string"].flat().map((type) => ofType(type, schema, names)));
}

function ofType(type: string, schema: Schema, names: Names): JsonText {
  if (type === "object") return object(schema, names);
  if (type === "array") {
    const items = jsonBySchema(schema.items ?? {}, names);
    return fc.array(items, { minLength: 0, maxLength: 3 }).map((texts) => `[${texts.join(",")}]`);
  }
  if (type === "boolean") return fc.constantFrom("true", "false");
  if (type === "null") return fc.constant("null");
  if (type === "integer" || type === "number") return number(schema);
  return text(schema);
}

function number({ minimum = -1000, maximum = 1000 }: Schema): JsonText {
  return fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31) }).map(String);
}

function text({ minLength = 0, maxLength = 40, format }: Schema): JsonText {
  if (format === "date-time") return fc.constantFrom('"2026-01-31T00:00:00Z"', '"2026-02-30"', '"1e9"');
  const atLimit = fc.constantFrom(minLength, maxLength, maxLength + 1).map((length) => "x".repeat(length));
  const short = fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) });
  return seldom(atLimit, short).map((value) => JSON.stringify(value));
}

const extraMember = fc.tuple(oddText, oddJson);

function object({ properties = {}, required = [], additionalProperties }: Schema, names: Names): JsonText {
  const members = Object.entries(properties).map(([name, schema]) => {
    const value = memberValue(name, schema, names).map((text): [string, string] => [name, text]);
    return required.includes(name) ? seldom(fc.constant(null), value, 24) : fc.option(value);
  });
  const extras =
    typeof additionalProperties === "object"
      ? fc.array(fc.tuple(fc.string(), jsonBySchema(additionalProperties, names)), { maxLength: 3 })
      : seldom(fc.array(extraMember, { maxLength: 2 }), fc.constant<[string, string][]>([]));
  const doubled = seldom(fc.constant(true), fc.constant(false), 24);
  return fc.tuple(fc.tuple(...members), extras, doubled).map(([some, more, isDoubled]) => {
    const all = [...some.filter((member) => member !== null), ...more];
    const [first] = all;
    const given = isDoubled && first ? [...all, first] : all;
    return `{${given.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
  });
}

function memberValue(name: string, schema: Schema, names: Names): JsonText {
  const values = Object.hasOwn(names.known, name) ? names.known[name] : undefined;
  const bySchema = jsonBySchema(schema, names);
  if (!values) return bySchema;
  return seldom(bySchema, fc.constantFrom(...values.map((value) => JSON.stringify(value))), 4);
}
