import { defineHandler } from "h3";
import { z } from "zod";
import { patterns } from "../../shared/paths.ts";
import type { Config } from "../../shared/runtime/config.ts";
import { setHeader } from "../http/respond.ts";
import { answerHeaders, describeAnswers } from "./openapi-answers.ts";
import type { Operation } from "./operation.ts";
import { describeRoot } from "./root.ts";

/** GET /openapi.json */
export function openapi(document: ReturnType<typeof describeApi>) {
  return defineHandler((event) => {
    setHeader(event, "Access-Control-Allow-Origin", "*");
    return document;
  });
}

/** Makes the OpenAPI 3.1 document from the declarations that check requests. */
export function describeApi(config: Config, operations: Operation[]) {
  const schemas: Record<string, unknown> = {};
  const schemaOf = (schema: z.ZodType) => toJsonSchema(schema, schemas);
  const paths: Record<string, Record<string, unknown>> = { [patterns.apiRoot]: describeRoot(schemaOf) };
  for (const each of operations) {
    const path = each.path.replace(/:([a-z]+)/g, "{$1}");
    paths[path] ??= {};
    for (const [index, method] of each.methods.entries()) {
      const id = index === 0 ? each.id : `${each.id}By${method.charAt(0)}${method.slice(1).toLowerCase()}`;
      (paths[path] as Record<string, unknown>)[method.toLowerCase()] = describeOperation(each, id, schemaOf);
    }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Signalbox REST API",
      version: "2",
      description: "Self-hosted front office for continuous integration.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: config.baseUrl }],
    security: [{ accessToken: [] }],
    tags: ["Root", ...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      headers: answerHeaders,
      securitySchemes: {
        accessToken: {
          type: "http",
          scheme: "bearer",
          description: "An API access token, or one issued to a device",
        },
      },
    },
  };
}

function describeOperation(
  declared: Operation,
  operationId: string,
  schemaOf: (schema: z.ZodType) => unknown,
) {
  const { tag, summary, scope, needsAdmin, body } = declared;
  const conditions = [
    ...(scope ? [`Needs the scope \`${scope}\`.`] : []),
    ...(needsAdmin ? ["Only admins of the organization may."] : []),
  ];
  return {
    operationId,
    tags: [tag],
    summary,
    ...(conditions.length > 0 ? { description: conditions.join(" ") } : {}),
    parameters: [...pathParameters(declared.path), ...queryParameters(declared, schemaOf)],
    ...(body
      ? {
          requestBody: {
            required: !body.isOptional,
            content: { "application/json": { schema: schemaOf(body.schema) } },
          },
        }
      : {}),
    responses: describeAnswers(declared, schemaOf),
  };
}

const parameterWords: Record<string, string> = {
  org: "Slug of the organization",
  cluster: "Id of the cluster",
  queue: "Id of the queue",
  slug: "Slug of the pipeline",
  number: "Number of the build",
  trigger: "Id of the trigger",
  delivery: "Id of the delivery",
};

function pathParameters(path: string) {
  return [...path.matchAll(/:([a-z]+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: parameterWords[name],
    schema: { type: "string" },
  }));
}

function queryParameters({ query = {} }: Operation, schemaOf: (schema: z.ZodType) => unknown) {
  return Object.entries(query).map(([name, schema]) => ({ name, in: "query", schema: schemaOf(schema) }));
}

/** Converts to JSON Schema. Adds schemas that have an id to `named`, and refers to them. */
function toJsonSchema(schema: z.ZodType, named: Record<string, unknown>): unknown {
  const {
    $schema: _,
    $defs = {},
    ...rest
  } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    target: "draft-2020-12",
    reused: "inline",
  }) as Record<string, unknown> & { $defs?: Record<string, unknown> };
  const moved = JSON.parse(JSON.stringify({ rest, $defs }).replaceAll('"#/$defs/', '"#/components/schemas/'));
  for (const [name, { id: __, ...body }] of Object.entries<Record<string, unknown>>(moved.$defs))
    named[name] = body;
  return moved.rest;
}
