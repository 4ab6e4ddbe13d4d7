import { createHash } from "node:crypto";
import { type H3Event, parseCookies } from "h3";
import { findSignedInUser } from "../../shared/accounts/sessions.ts";
import type { User } from "../../shared/accounts/user-store.ts";
import { issueToken, isWellFormedToken } from "../../shared/crypto/tokens.ts";
import { dayMs, secondMs } from "../../shared/durations.ts";
import type { Config } from "../../shared/runtime/config.ts";
import type { Services } from "../../shared/runtime/services.ts";
import { setHeader } from "../http/respond.ts";

/** A browser and its user. */
export interface Visitor {
  /** The cookie. It names a session only after sign-in. */
  token: string;
  /** A hidden field of every form. Other sites cannot read it. */
  csrfToken: string;
  user: User | undefined;
}

/** Sets a cookie if the browser has none. */
export async function findVisitor(services: Services, event: H3Event): Promise<Visitor> {
  const cookie = parseCookies(event)[cookieName(services.config, event)] ?? "";
  const user = await findSignedInUser(services, cookie);
  const token = isWellFormedToken("session", cookie) ? cookie : issueToken("session");
  if (token !== cookie) setSessionCookie(services.config, event, token);
  return { token, csrfToken: csrfTokenOf(token), user };
}

/** Sets no cookie. */
export async function findSignedInVisitor(services: Services, event: H3Event): Promise<Visitor | undefined> {
  const token = parseCookies(event)[cookieName(services.config, event)] ?? "";
  const user = await findSignedInUser(services, token);
  return user && { token, csrfToken: csrfTokenOf(token), user };
}

export function setSessionCookie(config: Config, event: H3Event, token: string): void {
  const secure = isSecure(config, event) ? "; Secure" : "";
  const maxAge = (config.sessionDays * dayMs) / secondMs;
  const cookie = `${cookieName(config, event)}=${token}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
  setHeader(event, "Set-Cookie", cookie);
}

/** Derived, so that it need not be stored. */
function csrfTokenOf(token: string): string {
  return createHash("sha256").update(`csrf ${token}`).digest("base64url");
}

/** `__Host-` stops sibling domains from planting a cookie. Browsers accept it over https only. */
function cookieName(config: Config, event: H3Event): string {
  return isSecure(config, event) ? "__Host-signalbox" : "signalbox";
}

/** By the public address: TLS may end at a proxy. */
function isSecure({ appUrl, authUrl }: Config, event: H3Event): boolean {
  const host = event.req.headers.get("host");
  const addresses = [appUrl, authUrl].map((address) => new URL(address));
  const used = addresses.find((address) => address.host === host) ?? addresses[0];
  return used?.protocol === "https:";
}
