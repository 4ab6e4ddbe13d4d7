import * as field from "../api/json/fields.ts";
import type { Operation } from "../api/operation.ts";
import { rootSchema } from "../api/root.ts";
import { type HeaderName, rateLimitHeaders } from "./answers.ts";
import { type Answer, type Declaration, jsonType } from "./declaration.ts";
import { parserRefusal } from "./installation.ts";

/** Refusals of any operation, with their own headers. */
const refusals: Record<string, { description: string; headers?: HeaderName[] }> = {
  "400": { description: "The body is not valid JSON, or not an object; or a cursor is malformed" },
  "401": { description: "No valid access token", headers: ["WWW-Authenticate"] },
  "403": { description: "The token lacks the scope, or the user the role", headers: ["WWW-Authenticate"] },
  "404": { description: "No such resource in the token's organization" },
  "413": { description: "The body is larger than 1 MB" },
  "415": { description: "The body is not JSON in UTF-8" },
  "429": { description: "Too many requests: wait as RateLimit-Reset says", headers: ["Retry-After"] },
  "503": { description: "Temporarily unavailable: wait as Retry-After says", headers: ["Retry-After"] },
};
const bodyRefusals = ["413", "415"];
/** Answered before the rate limit. */
const unlimited = ["401"];

/** Describes an operation of the REST API. */
export function declareRest(operation: Operation): Declaration {
  const { methods, path, id, tag, summary, scope, needsAdmin, query, body } = operation;
  const conditions = [
    ...(scope ? [`Needs the scope \`${scope}\`.`] : []),
    ...(needsAdmin ? ["Only admins of the organization may call it."] : []),
  ];
  return {
    ...{ methods, path, id, tag, summary },
    ...(conditions.length > 0 ? { description: conditions.join(" ") } : {}),
    security: ["accessToken"],
    server: "baseUrl",
    ...(query ? { query } : {}),
    ...(body ? { body: { ...body, mediaType: jsonType } } : {}),
    answers: answersOf(operation),
  };
}

function answersOf(operation: Operation): Record<string, Answer> {
  const { success, query, refusals: own } = operation;
  const refused = Object.entries(refusals)
    .filter(([status]) => mayAnswer(operation, status))
    .map(([status, { description, headers = [] }]): [string, Answer] => {
      const limits = unlimited.includes(status) ? [] : rateLimitHeaders;
      const also =
        status === "429" && operation.tooMany ? `; or ${operation.tooMany}: wait as Retry-After says` : "";
      return [
        status,
        { description: description + also, schema: field.problem, headers: [...headers, ...limits] },
      ];
    });
  const links: HeaderName[] = query && "page" in query ? ["Link"] : [];
  const { status, description, schema, mediaType } = success;
  return {
    [status]: {
      description,
      ...(schema && { schema }),
      ...(mediaType && { mediaType }),
      headers: [...links, ...rateLimitHeaders],
    },
    ...Object.fromEntries(refused),
    ...(own
      ? { "422": { description: own.join("; "), schema: field.problem, headers: rateLimitHeaders } }
      : {}),
  };
}

function mayAnswer({ path, body, query, scope, needsAdmin }: Operation, status: string): boolean {
  if (status === "400") return body !== undefined || (query !== undefined && "after" in query);
  if (bodyRefusals.includes(status)) return body !== undefined;
  if (status === "403") return scope !== undefined || needsAdmin === true;
  return status !== "404" || path.includes(":");
}

/** `GET /v2` is not in the table of operations, because it needs no token. */
export const root: Declaration = {
  methods: ["GET"],
  path: "/v2",
  id: "getRoot",
  tag: "Root",
  summary: "A greeting, which needs no token",
  security: [],
  server: "baseUrl",
  answers: { "200": { description: "A greeting", schema: rootSchema, headers: [] }, ...parserRefusal },
};
