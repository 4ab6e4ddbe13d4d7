import type { z } from "zod";
import * as field from "./json/fields.ts";
import type { Operation } from "./operation.ts";

const text = (description: string) => ({ description, schema: { type: "string" } });
const number = (description: string) => ({ description, schema: { type: "integer" } });

/** The header components that answers refer to. */
export const answerHeaders = {
  Link: text("Addresses of those of the first, prev, next and last page that there are"),
  "RateLimit-Limit": number("How many requests the token may make in any minute"),
  "RateLimit-Remaining": number("How many of them are left"),
  "RateLimit-Reset": number("Seconds until there are more"),
  "RateLimit-Scope": { description: "What is limited", schema: { type: "string", enum: ["rest"] } },
  "RateLimit-Policy": text("The limit, as the IETF draft has it"),
  RateLimit: text("What is left of it, as the IETF draft has it"),
  "Retry-After": number("Seconds after which the same request may succeed"),
  "WWW-Authenticate": text("What is missing: a valid token, or a scope of it"),
  "X-Request-Id": text("Id of the request in the logs: the caller's own, if it sent one"),
};

type HeaderName = keyof typeof answerHeaders;

const always: HeaderName[] = ["X-Request-Id"];
const limited: HeaderName[] = [
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "RateLimit-Scope",
  "RateLimit-Policy",
  "RateLimit",
];

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
/** They come before the rate limit. */
const unlimited = ["401"];

export function describeAnswers(declared: Operation, schemaOf: (schema: z.ZodType) => unknown) {
  const { success, query, refusals: own } = declared;
  const problem = { "application/json": { schema: schemaOf(field.problem) } };
  const refused = Object.entries(refusals)
    .filter(([status]) => mayAnswer(declared, status))
    .map(([status, { description, headers = [] }]) => {
      const common = unlimited.includes(status) ? always : [...limited, ...always];
      return [status, { description, headers: referTo([...headers, ...common]), content: problem }];
    });
  return {
    [success.status]: {
      description: success.description,
      headers: referTo([...(query && "page" in query ? ["Link" as const] : []), ...limited, ...always]),
      ...(success.schema ? { content: { "application/json": { schema: schemaOf(success.schema) } } } : {}),
    },
    ...Object.fromEntries(refused),
    ...(own
      ? {
          "422": { description: own.join("; "), headers: referTo([...limited, ...always]), content: problem },
        }
      : {}),
  };
}

function mayAnswer({ path, body, query, scope, needsAdmin }: Operation, status: string): boolean {
  if (status === "400") return body !== undefined || (query !== undefined && "after" in query);
  if (bodyRefusals.includes(status)) return body !== undefined;
  if (status === "403") return scope !== undefined || needsAdmin === true;
  return status !== "404" || path.includes(":");
}

export function referTo(names: HeaderName[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
