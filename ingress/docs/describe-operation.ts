import type { z } from "zod";
import type { Config } from "../../shared/settings/config.ts";
import { referTo } from "./answers.ts";
import { type Answer, type Declaration, jsonType } from "./declaration.ts";
import { describeExamples, type Example } from "./examples.ts";
import type { Schemas } from "./schemas.ts";

interface Context {
  schemas: Schemas;
  examples: Example[];
}

/** Makes an operation object of OpenAPI. */
export function describeOperation(config: Config, declared: Declaration, context: Context) {
  const { id, tag, summary, description, server, body } = declared;
  const serverUrl = config[server];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description ? { description } : {}),
    ...(serverUrl === config.baseUrl ? {} : { servers: [{ url: serverUrl }] }),
    security: declared.security.map((scheme) => (scheme === "none" ? {} : { [scheme]: [] })),
    parameters: describeParameters(declared, context),
    ...(body ? { requestBody: describeBody(body, context) } : {}),
    responses: Object.fromEntries(
      Object.entries(declared.answers).map(([status, answer]) => [
        status,
        describeAnswer(status, answer, context),
      ]),
    ),
  };
}

function describeBody(
  { schema, mediaType, isOptional }: NonNullable<Declaration["body"]>,
  { schemas, examples }: Context,
) {
  const accepted = examples.filter(({ answer }) => answer.status < 300);
  return {
    required: !isOptional,
    content: {
      [mediaType]: { schema: schemas.convert(schema), ...describeExamples(accepted, ({ body }) => body) },
    },
  };
}

function describeAnswer(
  status: string,
  { description, schema, mediaType = jsonType, headers }: Answer,
  { schemas, examples }: Context,
) {
  const ofStatus = examples.filter(({ answer }) => String(answer.status) === status);
  return {
    description,
    headers: referTo([...headers, "X-Request-Id"]),
    ...(schema
      ? {
          content: {
            [mediaType]: {
              schema: schemas.convert(schema),
              ...describeExamples(ofStatus, ({ answer }) => answer.body),
            },
          },
        }
      : {}),
  };
}

const id = { type: "string", format: "uuid" };
const slug = { type: "string" };

/** `:id` is that of the resource before it. */
const pathParameters: Record<string, { description: string; schema: Schema }> = {
  org: { description: "Slug of the organization", schema: slug },
  cluster: { description: "Id of the cluster", schema: id },
  queue: { description: "Id of the queue", schema: id },
  token: { description: "Id of the token", schema: slug },
  agent: { description: "Id of the agent", schema: id },
  artifact: { description: "Id of the artifact", schema: id },
  job: { description: "Id of the job", schema: id },
  slug: { description: "Slug of the pipeline", schema: slug },
  number: {
    description: "Number of the build, or its id",
    schema: { anyOf: [{ type: "integer", minimum: 1 }, id] },
  },
  trigger: { description: "Id of the trigger", schema: id },
  delivery: { description: "Id of the delivery", schema: id },
  rebuild: { description: "Id of the bulk rebuild", schema: id },
  upload: { description: "The uuid of the upload", schema: slug },
  step: { description: "Id or key of the step", schema: slug },
  key: { description: "The key of the stack", schema: slug },
  registry: { description: "The name of the registry", schema: slug },
  context: { description: "The context of the annotation", schema: slug },
};

function describeParameters(declared: Declaration, { schemas, examples }: Context) {
  const { path, query = {}, headers = {}, pathParameters: own = {} } = declared;
  const [example] = examples;
  const inPath = [...path.matchAll(/(?:([a-z]+)s)?\/:([a-z]+)/g)].map(([, resource, name = ""]) => {
    const { description, schema } = pathParameters[name] ?? {
      description: `Id of the ${resource}`,
      schema: id,
    };
    return {
      name,
      in: "path",
      required: true,
      description: own[name] ?? description,
      schema,
      ...exampleOf(example?.path?.[name], schema),
    };
  });
  const describe = (place: "query" | "header", members: Record<string, z.ZodType>, sample = {}) =>
    Object.entries(members).map(([name, member]) => {
      const { description, ...schema } = schemas.convert(member);
      const value = (sample as Record<string, string>)[name];
      const style = schema.type === "object" ? { style: "deepObject" } : {};
      return { name, in: place, description, ...style, schema, ...exampleOf(value, schema) };
    });
  return [
    ...inPath,
    ...describe("query", query, example?.query),
    ...describe("header", headers, example?.headers),
  ];
}

interface Schema {
  type?: unknown;
  /** The first form is the one of examples. */
  anyOf?: Schema[];
  [member: string]: unknown;
}

/** Parameters of an exchange are text. */
function exampleOf(value: string | undefined, schema: Schema): { example?: unknown } {
  if (value === undefined) return {};
  if (schema.anyOf?.[0]) return exampleOf(value, schema.anyOf[0]);
  if (schema.type === "integer") return { example: Number(value) };
  if (schema.type === "boolean") return { example: value === "true" };
  return { example: schema.type === "array" ? [value] : value };
}
