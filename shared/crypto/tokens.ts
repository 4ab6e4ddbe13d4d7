import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { customAlphabet } from "nanoid";

/**
 * Tokens are a prefix for their kind, 43 random base62 characters (256 bits) and 6 of CRC-32 over both. A mistyped
 * or made-up token is refused without the database, and secret scanners recognise a leaked one. Only the SHA-256 is
 * stored.
 */
export const tokenPrefixes = {
  access: "sbat_",
  refresh: "sbrt_",
  deviceCode: "sbdc_",
  clientSecret: "sbcs_",
  session: "sbss_",
  trigger: "sbtr_",
  job: "sbjt_",
} as const;

export type TokenKind = keyof typeof tokenPrefixes;

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 43;
const checksumLength = 6;
const tokenPattern = /^[0-9A-Za-z]{49}$/;
const random = customAlphabet(base62, randomLength);

/** Returns a new token in clear: show it once and store its `hashToken`. */
export function issueToken(kind: TokenKind): string {
  const body = tokenPrefixes[kind] + random();
  return body + checksum(body);
}

/** Checks prefix, form and checksum, without I/O. */
export function isWellFormedToken(kind: TokenKind, text: string): boolean {
  const prefix = tokenPrefixes[kind];
  if (!text.startsWith(prefix) || !tokenPattern.test(text.slice(prefix.length))) return false;
  return text.endsWith(checksum(text.slice(0, -checksumLength)));
}

/** Returns SHA-256 as base64url, 43 characters. */
export function hashToken(token: string): string {
  return hash("sha256", token, "base64url");
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < checksumLength; i++) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Matches tokens of any kind, also of other versions, to keep them out of the log. */
export const anyTokenPattern = /\bsb[a-z]{2}_[0-9A-Za-z]{6,}/g;
