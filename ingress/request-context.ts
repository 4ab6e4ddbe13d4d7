import { randomUUID } from "node:crypto";
import type { H3Event } from "h3";
import { patterns } from "../shared/paths.ts";
import type { Services } from "../shared/services.ts";
import { type ClientAddress, clientAddress } from "./client-address.ts";
import { setHeader, setHeaders } from "./respond.ts";

const saneRequestId = /^[A-Za-z0-9._-]{1,128}$/;

const restHeaders = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers":
    "Link, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Scope, RateLimit-Policy, RateLimit, Retry-After, X-Request-Id",
};

/** The id of a request: the caller's own when it is sane, on every response and in every log line. */
export function requestId(event: H3Event): string {
  const known = event.context.requestId as string | undefined;
  if (known) return known;
  const given = event.req.headers.get("x-request-id");
  const id = given !== null && saneRequestId.test(given) ? given : randomUUID();
  event.context.requestId = id;
  return id;
}

/** What happens before and after every request: its id, the headers of its surface, one log line, two metrics. */
export function requestHooks(services: Services, isClosing: () => boolean) {
  const addressOf = clientAddress(services.config.trustedProxies);
  return {
    onRequest(event: H3Event) {
      event.context.startedAt = performance.now();
      setHeader(event, "X-Request-Id", requestId(event));
      if (isClosing()) setHeader(event, "Connection", "close");
      if (event.url.pathname.startsWith("/v2")) setHeaders(event, restHeaders);
    },
    onResponse(response: Response, event: H3Event) {
      record(services, event, response.status, addressOf);
    },
  };
}

function record(services: Services, event: H3Event, status: number, addressOf: ClientAddress): void {
  const route = (event.context.matchedRoute as { route?: string } | undefined)?.route ?? "none";
  const { method } = event.req;
  const startedAt = event.context.startedAt as number | undefined;
  const ms = startedAt === undefined ? 0 : performance.now() - startedAt;

  services.metrics.requests.inc({ route, method: knownMethod(method), status });
  services.metrics.requestSeconds.observe({ route }, ms / 1000);
  services.log.info(
    {
      requestId: requestId(event),
      method,
      // A trigger's URL is a secret, a mistyped one nearly: only the route of a delivery is logged.
      path: route === patterns.deliver ? "/deliver/[redacted]" : event.url.pathname,
      status,
      ms: Math.round(ms * 10) / 10,
      ip: addressOf(event),
    },
    "request",
  );
}

/** Methods are a metric's label, so an invented one must not make a new series. */
function knownMethod(method: string): string {
  return /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method) ? method : "other";
}
