import { timingSafeEqual } from "node:crypto";
import type { Cipher } from "../crypto/cipher.ts";
import { isId } from "../ids.ts";

// Links in mails, by which readers end the mails about their builds without signing in (RFC 8058). A link names the
// member and is authenticated under SECRET_KEY, so nothing is stored of it. Its form is that of a token: logs leave it out.

interface MemberId {
  organizationId: string;
  userId: string;
}

const prefix = "sbun_";
const idDigits = 32;
const macDigits = 64;
const form = new RegExp(`^${prefix}([0-9a-f]{${idDigits}})([0-9a-f]{${idDigits}})([0-9a-f]{${macDigits}})$`);

export function unsubscribeTokenOf({ cipher }: { cipher: Cipher }, member: MemberId): string {
  const [mac] = macsOf(cipher, member);
  return [prefix, ...idsOf(member).map((id) => id.replaceAll("-", "")), mac?.toString("hex")].join("");
}

/** Returns the member whose link it is. Undefined: it was made under another key, or by nobody. */
export function readUnsubscribeToken({ cipher }: { cipher: Cipher }, token: string): MemberId | undefined {
  const [, organization, user, mac] = form.exec(token) ?? [];
  if (organization === undefined || user === undefined || mac === undefined) return undefined;
  const member = { organizationId: withDashes(organization), userId: withDashes(user) };
  const given = Buffer.from(mac, "hex");
  const isMade = macsOf(cipher, member).some((each) => timingSafeEqual(each, given));
  return isMade && idsOf(member).every(isId) ? member : undefined;
}

/** Of the present key, and of the previous one. */
function macsOf(cipher: Cipher, member: MemberId): Buffer[] {
  return cipher.macs(`unsubscribe ${idsOf(member).join(" ")}`).map((mac) => Buffer.from(mac, "base64url"));
}

function idsOf({ organizationId, userId }: MemberId): [organizationId: string, userId: string] {
  return [organizationId, userId];
}

function withDashes(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
