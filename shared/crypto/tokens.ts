import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { customAlphabet } from "nanoid";

/**
 * A prefix, 43 random base62 characters (256 bits) and 6 of CRC-32: typos are refused without the database, and secret
 * scanners recognize leaks. Only the SHA-256 is stored.
 */
const tokenPrefixes = {
  access: "sbat_",
  refresh: "sbrt_",
  deviceCode: "sbdc_",
  clientSecret: "sbcs_",
  session: "sbss_",
  invitation: "sbin_",
  trigger: "sbtr_",
  webhook: "sbwh_",
  webhookSecret: "sbws_",
  service: "sbns_",
  job: "sbjt_",
  agentRegistration: "sbct_",
  agentSession: "sbag_",
} as const;

type TokenKind = keyof typeof tokenPrefixes;

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 43;
const checksumLength = 6;
const tokenPattern = /^[0-9A-Za-z]{49}$/;
const random = customAlphabet(base62, randomLength);

/** Show the token once; store its `hashToken`. */
export function issueToken(kind: TokenKind): string {
  const body = tokenPrefixes[kind] + random();
  return body + checksum(body);
}

export function isWellFormedToken(kind: TokenKind, text: string): boolean {
  const prefix = tokenPrefixes[kind];
  if (!text.startsWith(prefix) || !tokenPattern.test(text.slice(prefix.length))) return false;
  return text.endsWith(checksum(text.slice(0, -checksumLength)));
}

/** SHA-256, base64url. */
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

/** Also matches other versions' tokens, and inside words, to keep them out of the log. */
export const anyTokenPattern = /sb[a-z]{2}_[0-9A-Za-z]{6,}/g;
