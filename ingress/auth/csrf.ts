import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { H3Event } from "h3";
import { Refusal } from "../../shared/refusal.ts";
import type { Config } from "../../shared/settings/config.ts";

const tokenBytes = 32;

/**
 * Returns the token of a session's forms, masked by random bytes that stand before it. In compressed pages, which repeat
 * what others send, the length of an answer would tell an unchanging text (BREACH).
 */
export function issueCsrfToken(sessionToken: string): string {
  const pad = randomBytes(tokenBytes);
  return Buffer.concat([pad, mask(csrfTokenOf(sessionToken), pad)]).toString("base64url");
}

function isCsrfToken(sessionToken: string, presented: string): boolean {
  const bytes = Buffer.from(presented, "base64url");
  if (bytes.length !== 2 * tokenBytes) return false;
  const token = mask(bytes.subarray(tokenBytes), bytes);
  return timingSafeEqual(token, csrfTokenOf(sessionToken));
}

/** Derived, so that it need not be stored. */
function csrfTokenOf(sessionToken: string): Buffer {
  return hash("sha256", `csrf ${sessionToken}`, "buffer");
}

function mask(token: Buffer, pad: Buffer): Buffer {
  return Buffer.from(token.map((byte, index) => byte ^ (pad[index] as number)));
}

/**
 * Refuses a form of another site (CSRF), by its token and by headers that no page can forge.
 * @throws Refusal 403
 */
export function refuseForeignForm(
  config: Config,
  event: H3Event,
  visitor: { token: string },
  formToken: string,
): void {
  const isSame = isCsrfToken(visitor.token, formToken);
  if (isSame && isFromOurPages(config, event)) return;
  // With a cookie of this address and another token, the form is of another session, and no address helps.
  const isOfHere = isAtOurAddress(config, event) || (!isSame && Boolean(event.req.headers.get("cookie")));
  throw new Refusal(
    403,
    isOfHere
      ? "This form is out of date. Go back, load the page again and send it once more."
      : `The pages have another address than the one that this form was sent from. Open ${config.appUrl} and send it there.`,
  );
}

/** Browsers name the origin of a form. */
function isAtOurAddress({ appUrl, authUrl }: Config, event: H3Event): boolean {
  const origin = event.req.headers.get("origin");
  return origin === null || [appUrl, authUrl].some((url) => new URL(url).origin === origin);
}

function isFromOurPages({ appUrl, authUrl }: Config, event: H3Event): boolean {
  const site = event.req.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  const origin = event.req.headers.get("origin");
  if (origin === null) return true; // browsers send one of the two
  if (origin === appUrl || origin === authUrl) return true;
  return URL.parse(origin)?.host === event.req.headers.get("host");
}
