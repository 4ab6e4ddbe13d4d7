import { callsOfStack } from "../http/limits/limits.ts";

const text = (description: string) => ({ description, schema: { type: "string" } });
const number = (description: string) => ({ description, schema: { type: "integer" } });

/** The header components that answers refer to. */
export const answerHeaders = {
  Link: text("Addresses of the first, previous, next and last page, as far as they exist"),
  "RateLimit-Limit": number("Requests that the limit admits in its window"),
  "RateLimit-Remaining": number("Requests left in the window"),
  "RateLimit-Reset": number("Seconds until more are admitted"),
  "RateLimit-Scope": {
    description: "The name of the limit",
    schema: {
      type: "string",
      enum: ["rest", "deliveries", "payload-reads", ...Object.values(callsOfStack), "show-job"],
    },
  },
  "RateLimit-Policy": text("The limit, as the IETF draft has it"),
  RateLimit: text("The rest of the limit, as the IETF draft has it"),
  "RateLimit-User-Limit": number("The same of the user: that of the access token"),
  "RateLimit-User-Remaining": number("Requests that the user has left"),
  "RateLimit-User-Reset": number("Seconds until the user has more"),
  "RateLimit-User-Scope": {
    description: "The name of the user's limit",
    schema: { type: "string", enum: ["rest_user"] },
  },
  "Retry-After": number("Seconds after which the same request may succeed"),
  "WWW-Authenticate": text("The missing credentials: a valid token, a scope, a client's secret"),
  "Idempotent-Replayed": {
    description: "`true`: the key was known",
    schema: { type: "string", enum: ["true"] },
  },
  "X-Request-Id": text("Id of the request in the logs: the caller's own, if it sent one"),
};

export type HeaderName = keyof typeof answerHeaders;

export const rateLimitHeaders: HeaderName[] = [
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "RateLimit-Scope",
  "RateLimit-Policy",
  "RateLimit",
];

/** Of the REST API. */
export const userLimitHeaders: HeaderName[] = [
  "RateLimit-User-Limit",
  "RateLimit-User-Remaining",
  "RateLimit-User-Reset",
  "RateLimit-User-Scope",
];

export function referTo(names: HeaderName[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
