import { timingSafeEqual } from "node:crypto";
import type { H3Event } from "h3";
import { Refusal } from "../../shared/refusal.ts";
import type { Config } from "../../shared/runtime/config.ts";
import type { Visitor } from "./session.ts";

/**
 * Was this form sent from one of our own pages, by the browser that it was shown to? The token says so; what the
 * browser adds by itself, and no page can forge, must agree.
 * @throws Refusal 403
 */
export function refuseForeignForm(config: Config, event: H3Event, visitor: Visitor, given: string): void {
  const expected = Buffer.from(visitor.csrfToken);
  const presented = Buffer.from(given);
  const isOurs = presented.length === expected.length && timingSafeEqual(presented, expected);
  if (isOurs && isFromOurPages(config, event)) return;
  throw new Refusal(403, "This form is out of date. Go back, load the page again and send it once more.");
}

function isFromOurPages({ appUrl, authUrl }: Config, event: H3Event): boolean {
  const site = event.req.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  const origin = event.req.headers.get("origin");
  if (origin === null) return true; // no browser that cares sends neither
  if (origin === appUrl || origin === authUrl) return true;
  return URL.parse(origin)?.host === event.req.headers.get("host");
}
