import { patterns } from "../../shared/paths.ts";
import { deviceGrantType } from "../helpers/device.ts";
import type { Schema } from "./json-by-schema.ts";

export interface Operation {
  id: string;
  method: string;
  /** With `{name}` for a parameter. */
  path: string;
  query: { name: string; schema: Schema }[];
  body?: { mediaType: string; schema: Schema } | undefined;
  /** Documented statuses, if the operation is documented. */
  statuses?: number[];
}

export interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
}

interface Described {
  operationId: string;
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, unknown>;
}

/** Every operation of the document, and those that programs call without one. */
export function operationsOf(document: Document): Operation[] {
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => toOperation(method.toUpperCase(), path, described)),
  );
  const shapeOf = ({ method, path }: Operation) => `${method} ${path.replace(/\{\w+\}/g, "{}")}`;
  const known = new Set(documented.map(shapeOf));
  return [...documented, ...undocumented.filter((each) => !known.has(shapeOf(each)))];
}

function toOperation(method: string, path: string, described: Described): Operation {
  const { operationId, parameters = [], requestBody, responses } = described;
  const [content] = Object.entries(requestBody?.content ?? {});
  return {
    id: operationId,
    method,
    path,
    query: parameters.filter((parameter) => parameter.in === "query"),
    body: content && { mediaType: content[0], schema: content[1].schema },
    statuses: Object.keys(responses).map(Number),
  };
}

const texts = (...names: string[]): Schema => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
});
const client = ["client_id", "client_secret"];
const form = (id: string, path: string, ...names: string[]): Operation => ({
  id,
  method: "POST",
  path,
  query: [],
  body: { mediaType: "application/x-www-form-urlencoded", schema: texts(...client, ...names) },
});
const json = (id: string, path: string, schema: Schema): Operation => ({
  id,
  method: "POST",
  path,
  query: [],
  body: { mediaType: "application/json", schema },
});

const undocumented: Operation[] = [
  form("startDevice", patterns.deviceAuthorization, "scope", "organization", "organization_uuid"),
  form("token", patterns.token, "grant_type", "device_code", "refresh_token", "scope"),
  form("revoke", patterns.revoke, "token", "token_type_hint"),
  form("introspect", patterns.introspect, "token", "token_type_hint"),
  json("deliver", "/deliver/{token}", { type: "object", properties: { a: { type: "integer" } } }),
  ...["jobs", "builds"].flatMap((owner) => {
    const path = `/v3/${owner}/{id}/data`;
    return [
      json(`${owner}.get`, `${path}/get`, texts("key")),
      json(`${owner}.set`, `${path}/set`, texts("key", "value")),
      json(`${owner}.exists`, `${path}/exists`, texts("key")),
      json(`${owner}.keys`, `${path}/keys`, texts()),
    ];
  }),
];

/** Values of members and form fields that no schema tells. */
export const knownWords = {
  grant_type: [deviceGrantType, "refresh_token", "password", "client_credentials"],
  scope: ["read_user", "read_builds write_builds", "all", "read_user  read_user"],
  token_type_hint: ["access_token", "refresh_token", "x"],
  type: ["webhook", "github", "linear"],
  strategy: ["hmac", "none"],
  secret: ["a secret of the sender", "x"],
  expression: [
    ...["true", "webhook.payload.a == 1", 'webhook.payload.b.startsWith("x")', "webhook.payload", "1/0 == 1"],
    ...[
      'webhook.headers["HTTP_X"] == "a"',
      'matches(webhook.payload.a, "(a+)+$")',
      "has(webhook.payload.a)",
      "(",
    ],
    ...["[1,2,3].map(x, x * 2) == [2]", `${"!".repeat(250)}true`, "a.b.c.d.e.f.g", '"\\u0000" == "a"'],
  ],
  key: ["default", "service:webhook", "release", "a.b"],
};
