import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { minuteMs, secondMs } from "../durations.ts";
import type { HmacSignature } from "../vocabulary.ts";

/** The proof of a sender that it knows the secret. */
export type Signature =
  /** With `isList`, one of several must be right: senders that change their secret sign with both. */
  | ({ scheme: "hmac"; isList?: true } & HmacSignature)
  /** The header is the secret. */
  | { scheme: "token"; header: string }
  /** An HMAC of an id, a time and the raw body: https://www.standardwebhooks.com */
  | { scheme: "standard"; header: string };

interface Signed {
  secret: string;
  body: Buffer;
  now: Date;
}

interface Headers {
  get(name: string): string | null | undefined;
}

const standard = { id: "webhook-id", time: "webhook-timestamp", version: "v1," };
/** Older requests may be replayed ones. */
const toleranceMs = 5 * minuteMs;

const minStandardKeyBytes = 16;
/**
 * A signature is valid from five minutes before its time to five minutes after: a message may be repeated for this
 * long.
 */
export const messageIdMs = 2 * toleranceMs;

/** True for a secret of Standard Webhooks that is too short to be one. */
export function isShortStandardSecret(secret: string): boolean {
  const key = standardKey(secret);
  return key !== undefined && key.length < minStandardKeyBytes;
}

/** The id of a message that a signature of this scheme authenticates. */
export function messageIdOf({ scheme }: Signature, headers: Headers): string | undefined {
  return (scheme === "standard" && headers.get(standard.id)) || undefined;
}

/** Compares in constant time. */
export function isSigned(signature: Signature, headers: Headers, { secret, body, now }: Signed): boolean {
  const value = headers.get(signature.header) ?? "";
  if (value === "") return false;
  switch (signature.scheme) {
    case "hmac": {
      const expected = hmacValue(signature, secret, body);
      const inCase = (each: string) => (signature.encoding === "hex" ? lowerCaseHex(signature, each) : each);
      const given = signature.isList ? listed(value) : [value];
      return given.some((each) => isEqual(inCase(each), expected));
    }
    case "token":
      // Node decodes headers as Latin-1. Hashes hide the length of the secret.
      return timingSafeEqual(sha256(Buffer.from(value, "latin1")), sha256(Buffer.from(secret.trim())));
    case "standard": {
      const id = headers.get(standard.id) ?? "";
      const time = headers.get(standard.time) ?? "";
      const key = standardKey(secret);
      if (!key || id === "" || !/^\d{1,12}$/.test(time)) return false;
      if (Math.abs(Number(time) * secondMs - now.getTime()) > toleranceMs) return false;
      const expected = standardValue(key, { id, time, body });
      return value.split(" ").some((each) => isEqual(each, expected));
    }
  }
}

/** Parted by blanks or commas. A prefix may have a comma itself. */
function listed(value: string): string[] {
  return [value, ...value.split(/\s+/, maxListed), ...value.split(/[\s,]+/, maxListed)];
}

const maxListed = 20;

/** By lower-case name. Null is a value that was not stored. */
export type ArrivedHeaders = ReadonlyMap<string, string | null>;

/** The headers that the sender would send. Undefined if the scheme cannot use the secret. */
export function signedHeaders(
  signature: Signature,
  { secret, body, now }: Signed,
  arrived: ArrivedHeaders,
): Record<string, string> | undefined {
  switch (signature.scheme) {
    case "hmac":
      return { [signature.header]: hmacValue(signature, secret, body) };
    case "token":
      return { [signature.header]: Buffer.from(secret.trim()).toString("latin1") };
    case "standard": {
      const key = standardKey(secret);
      if (!key) return undefined;
      const id = arrived.get(standard.id) || randomUUID(); // receivers recognize repeated messages by it
      const time = String(Math.floor(now.getTime() / secondMs));
      const value = standardValue(key, { id, time, body });
      return { [standard.id]: id, [standard.time]: time, [signature.header]: value };
    }
  }
}

function hmacValue({ algorithm, encoding, prefix }: HmacSignature, secret: string, body: Buffer): string {
  return prefix + createHmac(algorithm, secret).update(body).digest(encoding);
}

function lowerCaseHex({ prefix }: HmacSignature, value: string): string {
  return value.slice(0, prefix.length) + value.slice(prefix.length).toLowerCase();
}

/** Undefined if the secret is none of Standard Webhooks: `whsec_` and Base64. Some senders show it after `v1,`. */
function standardKey(secret: string): Buffer | undefined {
  const encoded = /^(?:v1,)?whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret.trim())?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64");
}

function standardValue(key: Buffer, { id, time, body }: { id: string; time: string; body: Buffer }): string {
  const hmac = createHmac("sha256", key).update(`${id}.${time}.`, "latin1").update(body);
  return standard.version + hmac.digest("base64");
}

function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given, "latin1"), Buffer.from(expected, "latin1")];
  return one.length === other.length && timingSafeEqual(one, other);
}

function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
