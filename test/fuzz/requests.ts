import fc from "fast-check";
import { patterns } from "../../shared/paths.ts";
import { seldom } from "./fuzz.ts";
import { jsonBySchema, type Names } from "./json-by-schema.ts";
import { encoding, oddHeaders, oddType } from "./odd-headers.ts";
import { noJson, oddSegment } from "./odd-text.ts";
import type { Operation } from "./operations.ts";
import type { Request } from "./send.ts";
import { asQueryValue, pathOf, queryOf, type Targets } from "./targets.ts";

export interface Caller {
  name: "nobody" | "stranger" | "reader" | "admin";
  authorization: string;
}

export interface Input {
  operation: Operation;
  caller: Caller;
  request: Request;
  /** Only ids, query and body may be wrong. */
  isPlain: boolean;
  /** Parameters of the path as they are meant. */
  parameters: Record<string, string>;
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"];

/** Any request of an operation, mostly one that passes the first checks. */
export function requestsOf(operation: Operation, names: Names, targets: Targets): fc.Arbitrary<Input> {
  const usual = fc.constant(undefined);
  return fc
    .record({
      caller: callerOf(operation, targets),
      path: pathOf(operation, targets),
      query: queryOf(operation, names),
      method: seldom(fc.constantFrom(...methods), usual, 24),
      type: seldom(oddType, usual),
      encoding: seldom(encoding, usual, 40),
      headers: seldom(oddHeaders, fc.constant({}), 6),
      body: bodyOf(operation, names),
    })
    .map(({ caller, path, query, method, type, encoding, headers, body }) => {
      const coded = body && encoding ? encoding(body) : { body, headers: {} };
      const isPlain =
        isAscii(path.text + query) &&
        path.isPlain &&
        !method &&
        !type &&
        !encoding &&
        Object.keys(headers).length === 0;
      const request = {
        method: method ?? operation.method,
        target: path.text + query,
        headers: {
          ...(caller.authorization ? { authorization: caller.authorization } : {}),
          ...(body ? { "content-type": type ?? operation.body?.mediaType ?? "application/json" } : {}),
          ...headers,
          // Node's client frames no body of a GET or DELETE by itself.
          ...(coded.body && { "content-length": String(coded.body.length) }),
          ...coded.headers,
        },
        body: coded.body,
      };
      return { operation, caller, request, isPlain, parameters: path.parameters };
    });
}

/** Node's parser refuses other bytes in a target itself. */
function isAscii(target: string): boolean {
  return /^[\x21-\x7e]*$/.test(target);
}

function callerOf({ path }: Operation, { own }: Targets): fc.Arbitrary<Caller> {
  const none: Caller = { name: "nobody", authorization: "" };
  const stranger = fc.oneof(
    fc.constantFrom(
      "Bearer",
      "Bearer  ",
      "Basic !",
      "Basic Y2xpOg==",
      `Bearer ${own.adminToken}x`,
      "Token x",
      "é",
    ),
    fc.constantFrom(
      `Bearer ${own.adminToken.toUpperCase()}`,
      `Bearer\t${own.adminToken}`,
      "Bearer a b",
      "x".repeat(9000),
    ),
  );
  const strangers = stranger.map((authorization): Caller => ({ name: "stranger", authorization }));
  const outside = fc.oneof({ weight: 1, arbitrary: fc.constant(none) }, { weight: 1, arbitrary: strangers });
  if (path.startsWith("/v3/"))
    return seldom(outside, fc.constant({ name: "admin", authorization: `Token ${own.jobToken}` }), 6);
  // A caller who revokes the token could not go on.
  if (!path.startsWith("/v2") || path === patterns.accessToken) return outside;
  return fc.oneof(
    { weight: 2, arbitrary: outside },
    {
      weight: 4,
      arbitrary: fc.constant<Caller>({ name: "reader", authorization: `Bearer ${own.readerToken}` }),
    },
    {
      weight: 10,
      arbitrary: fc.constant<Caller>({ name: "admin", authorization: `bearer ${own.adminToken}` }),
    },
  );
}

function bodyOf({ body }: Operation, names: Names): fc.Arbitrary<Buffer | undefined> {
  const random = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  if (!body) return seldom(random, fc.constant(undefined), 20);
  const json = jsonBySchema(body.schema, names);
  const isForm = body.mediaType === "application/x-www-form-urlencoded";
  const text = isForm ? seldom(oddSegment, json.map(asForm), 20) : seldom(noJson, json, 20);
  return fc.oneof(
    { weight: 40, arbitrary: text.map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: text.map((text) => Buffer.from(text, "utf16le")) },
    { weight: 1, arbitrary: random },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
}

/** A JSON object as a form. Doubled members become repeated parameters. */
function asForm(json: string): string {
  const members = [...json.matchAll(/"((?:[^"\\]|\\.)*)":("(?:[^"\\]|\\.)*"|[^,{}]*)/g)];
  return members.map(([, name = "", value = ""]) => `${asQueryValue(name)}=${asQueryValue(value)}`).join("&");
}
