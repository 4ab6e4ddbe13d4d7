import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { customAlphabet } from "nanoid";

/**
 * Every secret that we hand out looks the same: a prefix that names its kind, 43 base62 characters of
 * randomness (256 bits) and 6 of CRC-32 over all that precedes. A mistyped, truncated or made-up token is
 * therefore refused without a look into the database, and secret scanners can recognise a leaked one.
 * Only the SHA-256 is stored.
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

/** A new token of this kind, in clear: show it once and store `hashToken` of it. */
export function issueToken(kind: TokenKind): string {
  const body = tokenPrefixes[kind] + random();
  return body + checksum(body);
}

/** Whether the text can be a token of this kind at all. Pure: costs no I/O. */
export function isWellFormedToken(kind: TokenKind, text: string): boolean {
  const prefix = tokenPrefixes[kind];
  if (!text.startsWith(prefix) || !tokenPattern.test(text.slice(prefix.length))) return false;
  return text.endsWith(checksum(text.slice(0, -checksumLength)));
}

/** What is stored and looked up instead of the token: SHA-256, base64url, 43 characters. */
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

/** Tokens of every kind, also kinds that other versions know: what must never reach a log. */
export const anyTokenPattern = /\bsb[a-z]{2}_[0-9A-Za-z]{6,}/g;
