import { createHash } from "node:crypto";
import { type H3Event, parseCookies } from "h3";
import { findSignedInUser } from "../../shared/accounts/sessions.ts";
import type { User } from "../../shared/accounts/user-store.ts";
import { issueToken, isWellFormedToken } from "../../shared/crypto/tokens.ts";
import type { Config } from "../../shared/runtime/config.ts";
import type { Services } from "../../shared/runtime/services.ts";
import { nodeResponse } from "../http/node.ts";

/** A browser at the pages. */
export interface Visitor {
  /** What its cookie holds. It names a session only once somebody has signed in with it. */
  token: string;
  /** Goes into every form, and comes back with it: no other site can read it. */
  csrfToken: string;
  /** Undefined: nobody is signed in. */
  user: User | undefined;
}

const daySeconds = 86_400;

/** Who looks at the pages. A browser that comes for the first time gets its cookie here. */
export async function findVisitor(services: Services, event: H3Event): Promise<Visitor> {
  const given = parseCookies(event)[cookieName(services.config, event)] ?? "";
  const user = await findSignedInUser(services, given);
  const token = isWellFormedToken("session", given) ? given : issueToken("session");
  if (token !== given) setSessionCookie(services.config, event, token);
  return { token, csrfToken: csrfTokenOf(token), user };
}

/** Who has signed in. A browser that nobody has signed in with is left alone. */
export async function findKnownVisitor(services: Services, event: H3Event): Promise<Visitor | undefined> {
  const token = parseCookies(event)[cookieName(services.config, event)] ?? "";
  const user = await findSignedInUser(services, token);
  return user && { token, csrfToken: csrfTokenOf(token), user };
}

/** Hand the browser the token of its session. */
export function setSessionCookie(config: Config, event: H3Event, token: string): void {
  const secure = isSecure(config, event) ? "; Secure" : "";
  const maxAge = config.sessionDays * daySeconds;
  const cookie = `${cookieName(config, event)}=${token}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
  nodeResponse(event).setHeader("Set-Cookie", cookie);
}

/** Derived from a secret that only the browser holds, so nothing more needs to be stored. */
function csrfTokenOf(token: string): string {
  return createHash("sha256").update(`csrf ${token}`).digest("base64url");
}

/** `__Host-` keeps neighbours of the domain from planting a cookie; browsers take it over https only. */
function cookieName(config: Config, event: H3Event): string {
  return isSecure(config, event) ? "__Host-signalbox" : "signalbox";
}

/** Whether the public address that the browser uses is https. TLS may end at a proxy, so the socket cannot tell. */
function isSecure({ appUrl, authUrl }: Config, event: H3Event): boolean {
  const host = event.req.headers.get("host");
  const addresses = [appUrl, authUrl].map((address) => new URL(address));
  const used = addresses.find((address) => address.host === host) ?? addresses[0];
  return used?.protocol === "https:";
}
