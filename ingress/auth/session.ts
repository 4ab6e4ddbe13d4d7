import { type H3Event, parseCookies } from "h3";
import { issueKnownBrowser, knownBrowserDays } from "../../shared/accounts/known-browser.ts";
import { findSignedInUser } from "../../shared/accounts/sessions.ts";
import type { User } from "../../shared/accounts/user-store.ts";
import { issueToken, isWellFormedToken } from "../../shared/crypto/tokens.ts";
import { dayMs, secondMs } from "../../shared/durations.ts";
import type { Services } from "../../shared/services/services.ts";
import type { Config } from "../../shared/settings/config.ts";
import { ownerOfNetwork } from "../../shared/sharing/owner.ts";
import { rememberRecent } from "../../shared/sharing/recent.ts";
import { clientIp } from "../http/client-address.ts";
import { wideNetworkOf } from "../http/network.ts";
import { nodeResponse } from "../http/node.ts";
import { issueCsrfToken } from "./csrf.ts";

const sessionCookie = "signalbox";
const knownCookie = "signalbox-known";
const organizationCookie = "signalbox-organization";

/** A browser and its user. */
export interface Visitor {
  /** The cookie. It names a session only after sign-in. */
  token: string;
  /** A hidden field of every form, masked for this request. Other sites cannot read it. */
  csrfToken: string;
  user: User | undefined;
}

/** By the cookie of a session: the organization whose page it saw last, as far as this process knows. */
const organizations = rememberRecent<string>(10_000);

/** The owner of what a request of a browser costs until its organization is known. */
export function ownerOfVisitor(services: Services, event: H3Event): string {
  const seen = organizations.get(readCookie(services, event, sessionCookie));
  return seen ?? ownerOfNetwork(wideNetworkOf(clientIp(event)));
}

/** For the next visit, which another process may answer, a cookie names the organization. Call it for members only. */
export function rememberOrganization(
  services: Services,
  event: H3Event,
  { token, organizationId }: { token: string; organizationId: string },
): void {
  organizations.set(token, organizationId);
  if (lastOrganizationOf(services, event) === organizationId) return;
  const days = knownBrowserDays;
  setCookie(services, event, { name: organizationCookie, value: organizationId, days });
}

/** The id of the organization whose page the browser saw last, as its cookie says. Empty if it saw none. */
export function lastOrganizationOf(services: Services, event: H3Event): string {
  return readCookie(services, event, organizationCookie);
}

/** Sets a cookie if the browser has none. */
export async function findVisitor(services: Services, event: H3Event): Promise<Visitor> {
  const cookie = readCookie(services, event, sessionCookie);
  const user = await findSignedInUser(services, cookie);
  const token = isWellFormedToken("session", cookie) ? cookie : issueToken("session");
  if (token !== cookie) setSessionCookie(services, event, token);
  return { token, csrfToken: issueCsrfToken(token), user };
}

/** Sets no cookie. */
export async function findSignedInVisitor(services: Services, event: H3Event): Promise<Visitor | undefined> {
  const token = readCookie(services, event, sessionCookie);
  const user = await findSignedInUser(services, token);
  return user && { token, csrfToken: issueCsrfToken(token), user };
}

/**
 * Signs the browser in. A second cookie, which stays after sign-out, shows that the user has signed in here.
 * @param user with the present password
 */
export function setSignInCookies(
  services: Services,
  event: H3Event,
  { token, user }: { token: string; user: User },
): void {
  setSessionCookie(services, event, token);
  const days = knownBrowserDays;
  setCookie(services, event, { name: knownCookie, value: issueKnownBrowser(services, user), days });
}

/** The cookie of the browser's last sign-in, perhaps of another user. Empty if there is none. */
export function readKnownBrowser(services: Services, event: H3Event): string {
  return readCookie(services, event, knownCookie);
}

function setSessionCookie(services: Services, event: H3Event, token: string): void {
  const days = services.config.sessionDays;
  setCookie(services, event, { name: sessionCookie, value: token, days });
}

function setCookie(
  { config }: Services,
  event: H3Event,
  { name: plainName, value, days }: { name: string; value: string; days: number },
): void {
  const name = cookieName(config, event, plainName);
  const secure = isSecure(config, event) ? "; Secure" : "";
  const maxAge = (days * dayMs) / secondMs;
  const cookie = `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
  nodeResponse(event).stageCookie(name, cookie);
}

function readCookie({ config }: Services, event: H3Event, name: string): string {
  return parseCookies(event)[cookieName(config, event, name)] ?? "";
}

/** `__Host-` stops sibling domains from planting a cookie. Browsers accept it over https only. */
function cookieName(config: Config, event: H3Event, name: string): string {
  return isSecure(config, event) ? `__Host-${name}` : name;
}

/** By the public address: TLS may end at a proxy. */
function isSecure({ appUrl, authUrl }: Config, event: H3Event): boolean {
  const host = event.req.headers.get("host");
  const addresses = [appUrl, authUrl].map((address) => new URL(address));
  const used = addresses.find((address) => address.host === host) ?? addresses[0];
  return used?.protocol === "https:";
}
