import assert from "node:assert/strict";
import { saysForeignText } from "./installation.ts";
import type { Response } from "./send.ts";

/** Stacks, SQL, paths and names of libraries. No input has any of them. */
const internals = [
  /\n\s+at .*[(/:]/,
  /\.(ts|tsx|js|mjs):\d+/,
  /node_modules|node:internal|file:\/\/\//,
  /\b(select|insert into|update|delete from) "?\w+"? (from|set|values|\()/i,
  /SQLITE_|drizzle|better-sqlite3|ioredis|bullmq|zoderror|(type|range|syntax|reference)error/i,
  /E(CONN|PIPE|NOENT)\w+|\[object \w+\]/,
];

type Shape = "json" | "oauth" | "page" | "any";

/**
 * Asserts what every answer promises.
 * @param isOwn the answer is for the other tenant
 */
export function assertHonest(answer: Response, shape: Shape, isOwn = false): void {
  const { status, headers, text } = answer;
  assert.ok(status < 500 || status === 503, "no 5xx but 503");
  assert.match(String(headers["x-request-id"]), /^[\w.-]{1,128}$/, "X-Request-Id");
  assert.equal(headers["x-content-type-options"], "nosniff", "no browser takes a file for a page");
  if (status === 503 || status === 429)
    assert.match(String(headers["retry-after"]), /^[1-9]\d*$/, "Retry-After");
  if (status === 405) assert.match(String(headers.allow), /^[A-Z]+(, [A-Z]+)*$/, "Allow");
  if (status === 401 && shape === "json") assert.ok(headers["www-authenticate"] ?? isOfDelivery(text));
  assert.ok(isOwn || !saysForeignText(text), "nothing of another tenant");
  for (const internal of internals) assert.doesNotMatch(text.slice(0, 100_000), internal, "no internals");
  if (status >= 400 && text !== "") assertErrorShape(answer, shape);
}

function isOfDelivery(text: string): boolean {
  return text.includes("Invalid webhook signature");
}

function assertErrorShape({ headers, text }: Response, shape: Shape): void {
  const type = String(headers["content-type"]);
  const isPage = type.startsWith("text/html");
  if (shape === "page" || (shape === "any" && isPage)) {
    assertErrorPage(headers, text);
    return;
  }
  assert.match(type, /^application\/json\b/);
  const body = JSON.parse(text);
  if (shape === "oauth" || (shape === "any" && "error" in body)) {
    assert.deepEqual(Object.keys(body), ["error", "error_description"]);
    // RFC 6749 §5.2
    assert.match(body.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    return;
  }
  assert.equal(typeof body.message, "string");
  assert.notEqual(body.message, "");
}

function assertErrorPage(headers: Response["headers"], text: string): void {
  assert.match(String(headers["content-type"]), /^text\/html\b/);
  assert.match(text, /^<!doctype html>/i);
  assert.match(text, /<h1[ >]/);
  assert.match(String(headers["content-security-policy"]), /default-src 'none'/);
  assert.equal(headers["cache-control"], "no-store");
}
