import { randomUUID } from "node:crypto";
import { type H3Event, HTTPError } from "h3";
import { secondMs } from "../../shared/durations.ts";
import { patterns } from "../../shared/paths.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import type { Config } from "../../shared/settings/config.ts";
import { clientAddress, clientIp } from "./client-address.ts";
import { Downloads } from "./downloads.ts";
import { nodeRequest, nodeResponse } from "./node.ts";
import { setHeaders } from "./respond.ts";
import type { ResponseListeners } from "./response.ts";
import { dropUnreadBody } from "./transfers/unread-body.ts";

const validRequestId = /^[A-Za-z0-9._-]{1,128}$/;

/** Paths that end in the token of a trigger or a user code, and escapes, in which a token would not be recognized. */
const secretPath = /(\/deliver\/|\/device\/|%).*/i;

/** A year (RFC 6797). Not for subdomains, which are not ours. */
const strictTransportSecurity = "max-age=31536000";

const restHeaders = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers":
    "Link, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Scope, RateLimit-Policy, RateLimit, RateLimit-User-Limit, RateLimit-User-Remaining, RateLimit-User-Reset, RateLimit-User-Scope, Retry-After, X-Request-Id",
};

/** Errors need them too (RFC 6749 §5.1). */
const oauthHeaders = { "Cache-Control": "no-store", Pragma: "no-cache" };
const oauthPaths = new Set<string>([
  patterns.deviceAuthorization,
  patterns.token,
  patterns.revoke,
  patterns.introspect,
  patterns.oauthMetadata,
  patterns.openidConfiguration,
]);

/** Returns true for endpoints whose errors follow RFC 6749 §5.2. */
export function isOAuthPath(event: H3Event): boolean {
  const path = event.url.pathname;
  return oauthPaths.has(path) || (path.endsWith("/") && oauthPaths.has(path.slice(0, -1)));
}

/** Returns the id of a request, for its response and log lines: the caller's own if valid. */
export function requestId(event: H3Event): string {
  const known = event.context.requestId as string | undefined;
  if (known) return known;
  const given = event.req.headers.get("x-request-id");
  const id = given !== null && validRequestId.test(given) ? given : randomUUID();
  event.context.requestId = id;
  return id;
}

/** Sets common headers before each request; logs and counts it when it is answered. */
export function openRequest(services: Services, isClosing: () => boolean): (event: H3Event) => void {
  const addressOf = clientAddress(services.config.trustedProxies);
  const downloads = new Downloads(services.config);
  const listeners: ResponseListeners = {
    isLast: isClosing,
    onHead: recordRequests(services),
    onLargeBody: (event, bytes) => downloads.send(event, bytes),
  };
  const isAlwaysSecure = hasOnlySecureAddresses(services.config);
  return (event) => {
    const { context } = event;
    const { pathname } = event.url;
    const response = nodeResponse(event);
    context.startedAt = performance.now();
    context.clientIp = addressOf(event);
    context.downloads = downloads;
    // h3's `onResponse` would cost three promises.
    response.listen(event, listeners);
    response.stage("X-Request-Id", requestId(event));
    if (isAlwaysSecure) response.stage("Strict-Transport-Security", strictTransportSecurity);
    if (pathname.startsWith("/v2")) setHeaders(event, restHeaders);
    else if (isOAuthPath(event)) setHeaders(event, oauthHeaders);
    refuseSecondHost(nodeRequest(event).rawHeaders);
    refuseMalformed(pathname);
  };
}

/** A browser would use https for every port of a host, so an http address may be on the host of an https one. */
function hasOnlySecureAddresses({ baseUrl, authUrl, webhookUrl, appUrl }: Config): boolean {
  const addresses = [baseUrl, authUrl, webhookUrl, appUrl].map((address) => new URL(address));
  return addresses.every(({ protocol, hostname }) => protocol === "https:" && hostname !== "localhost");
}

/**
 * A proxy and Node may choose different ones (RFC 9112 §3.2).
 * @param rawHeaders names and values in turn
 */
function refuseSecondHost(rawHeaders: string[]): void {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  if (hosts > 1)
    throw new Refusal(400, "The request has more than one Host header", { headers: { Connection: "close" } });
}

/** Refuses a broken percent escape, except below /v2, where authentication comes first. */
function refuseMalformed(pathname: string): void {
  if (!pathname.includes("%") || pathname.startsWith("/v2/")) return;
  try {
    decodeURI(pathname);
  } catch {
    throw new HTTPError({ status: 400 });
  }
}

function recordRequests({ metrics, log }: Services): ResponseListeners["onHead"] {
  return (event, status) => {
    dropUnreadBody(event);
    const route = (event.context.matchedRoute as { route?: string } | undefined)?.route ?? "none";
    const { method } = event.req;
    const startedAt = event.context.startedAt as number | undefined;
    const ms = startedAt === undefined ? 0 : performance.now() - startedAt;

    metrics.requests.inc({ route, method: knownMethod(method), status });
    metrics.requestSeconds.observe({ route }, ms / secondMs);
    if (status === 201 && route === patterns.deliver) metrics.deliverySeconds.observe(ms / secondMs);
    if (event.context.isOutOfLog && status < 400) return;
    log.request({
      requestId: requestId(event),
      method,
      path: event.url.pathname.replace(secretPath, "$1[redacted]"),
      status,
      ms: Math.round(ms * 10) / 10,
      ip: clientIp(event),
    });
  };
}

/** Leaves a request out of the log if it succeeds: agents ask all the time. The metrics count it. */
export function keepOutOfLog(event: H3Event): void {
  event.context.isOutOfLog = true;
}

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Keeps invented methods from creating metric series. */
function knownMethod(method: string): string {
  return knownMethods.has(method) ? method : "other";
}
