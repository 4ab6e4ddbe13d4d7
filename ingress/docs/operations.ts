import * as field from "../../shared/presenters/fields.ts";
import { rootSchema } from "../api/root.ts";
import { type CallerKind, tokensOf } from "../auth/callers.ts";
import type { Operation } from "../operations/operation.ts";
import { type HeaderName, rateLimitHeaders, userLimitHeaders } from "./answers.ts";
import { type Answer, type Declaration, jsonType } from "./declaration.ts";
import { parserRefusal } from "./installation.ts";

type Reasons = Record<string, string>;

/** Refusals of any operation, as far as it can give them. */
const everywhere: Reasons = {
  "413": "The body is larger than 1 MB",
  "415": "Neither the body nor its content type is JSON in UTF-8",
  "503": "Temporarily unavailable: wait as Retry-After says",
};
const ofRest: Reasons = {
  ...everywhere,
  "400": "The body is not valid JSON, has too many values or is not an object; or a cursor is malformed",
  "401": "No valid access token",
  "403": "The token lacks the scope, or the user the role",
  "404": "No such resource in the token's organization",
  "429": "Too many requests: wait as RateLimit-Reset says",
};
const ofAgents: Reasons = {
  ...everywhere,
  "400": "The body is not valid JSON, has too many values or is not an object",
  "401": "No valid token of these kinds, or the session has ended",
  "422": "A member is missing or wrong",
};
const ofJobs: Reasons = { ...ofAgents, "404": "Not a job of the caller, or an attempt that is over" };
const ofData: Reasons = {
  ...ofAgents,
  "401": "No valid job token, and no session that has a job",
  "404": "Another job or build than the token's",
  "429": "Too many requests: wait as Retry-After says",
};
const refusalsOf: Record<CallerKind, Reasons> = {
  accessToken: ofRest,
  registrar: ofAgents,
  stack: {
    ...ofAgents,
    "400": "The body is not valid JSON, or a member is wrong",
    "404": "The token's cluster has no stack with the key",
  },
  pinging: ofAgents,
  session: ofAgents,
  agentOrJob: ofAgents,
  job: ofJobs,
  lease: ofJobs,
  attempt: ofJobs,
  dataOfJob: ofData,
  dataOfBuild: ofData,
  insideJob: { ...ofData, "404": "No job of the caller" },
};

/** Describes an operation. */
export function declareOperation(operation: Operation): Declaration {
  const {
    caller = "accessToken",
    methods,
    path,
    id,
    tag,
    summary,
    query,
    headers,
    body,
    rawBody,
  } = operation;
  return {
    methods,
    path,
    id,
    tag,
    summary,
    query,
    headers,
    description: describe(operation),
    security: tokensOf[caller],
    server: "baseUrl",
    ...(rawBody ? { body: { ...rawBody, isOptional: true } } : {}),
    ...(body ? { body: { ...body, isOptional: body.isOptional ?? body.isReport, mediaType: jsonType } } : {}),
    answers: answersOf(operation),
  };
}

function describe({ description, scope, needsAdmin }: Operation): string {
  const sentences = [
    description,
    scope && `Needs the scope \`${scope}\`.`,
    needsAdmin && "Only admins of the organization may call it.",
  ];
  return sentences.filter((sentence) => sentence).join(" ");
}

function answersOf(operation: Operation): Record<string, Answer> {
  const { caller = "accessToken", success, query, refusals: own = {} } = operation;
  const common = Object.entries(refusalsOf[caller]).filter(([status]) => mayAnswer(operation, status));
  const reasons = new Map(common);
  for (const [status, more] of Object.entries(own))
    reasons.set(status, [reasons.get(status) ?? [], more.join("; ")].flat().join("; or "));
  const links: HeaderName[] = query && "page" in query ? ["Link"] : [];
  const { status: successful, description, schema, mediaType } = success;
  return {
    [successful]: {
      description,
      ...(schema && { schema }),
      ...(mediaType && { mediaType }),
      headers: [...links, ...limitsOf(caller, String(successful))],
    },
    ...Object.fromEntries(
      [...reasons].map(([status, description]) => [
        status,
        { description, schema: field.problem, headers: headersOf(caller, status) },
      ]),
    ),
  };
}

function mayAnswer({ path, body, query, scope, needsAdmin, translate }: Operation, status: string): boolean {
  if (status === "400") return body !== undefined || (query !== undefined && "after" in query);
  if (status === "422") return body !== undefined && !translate; // its own reasons say what it becomes
  if (["413", "415"].includes(status)) return body !== undefined;
  if (status === "403") return scope !== undefined || needsAdmin === true;
  return status !== "404" || (path.includes(":") && !translate);
}

function headersOf(caller: CallerKind, status: string): HeaderName[] {
  const isChallenge = status === "401" || (status === "403" && caller === "accessToken");
  return [
    ...(isChallenge ? (["WWW-Authenticate"] as const) : []),
    ...(status === "429" || status === "503" ? (["Retry-After"] as const) : []),
    ...limitsOf(caller, status),
  ];
}

/** REST shows its limit in all answers but those before it, meta-data a limit that was reached. */
function limitsOf(caller: CallerKind, status: string): HeaderName[] {
  if (caller === "accessToken") return status === "401" ? [] : [...rateLimitHeaders, ...userLimitHeaders];
  return refusalsOf[caller] === ofData && status === "429" ? rateLimitHeaders : [];
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
