import { type EventHandler, getRouterParam, type H3, type H3Event } from "h3";
import { Refusal } from "../../shared/refusal.ts";
import { noContent, setHeaders } from "./respond.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type Handlers = Partial<Record<Method, EventHandler>>;
export type Route = [pattern: string, handlers: Handlers];

/**
 * A path with its methods. HEAD is GET without the body; any other method is a 405 that names the ones there are
 * (h3 alone would answer 404).
 */
export function route(app: H3, pattern: string, handlers: Handlers): void {
  const allow = allowed(handlers);
  app.all(pattern, (event: H3Event) => {
    const handler = handlerOf(handlers, event.req.method);
    if (!handler) throw new Refusal(405, "Method not allowed", { headers: { Allow: allow } });
    return handler(event);
  });
}

/** A path of the REST API, which browsers may call from anywhere: OPTIONS answers without authentication. */
export function restRoute(app: H3, pattern: string, handlers: Handlers): void {
  const preflight = {
    Allow: `${allowed(handlers)}, OPTIONS`,
    "Access-Control-Allow-Methods": allowed(handlers),
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
  };
  app.options(pattern, (event: H3Event) => {
    setHeaders(event, preflight);
    return noContent();
  });
  route(app, pattern, handlers);
}

/**
 * A parameter of the path of a REST route, decoded; undefined when the route has none of this name. One with a broken
 * percent escape is empty: it names nothing, as a malformed id does.
 */
export function pathParameter(event: H3Event, name: string): string | undefined {
  const raw = getRouterParam(event, name); // h3's own decoding would fail for the sake of another parameter
  try {
    return raw && decodeURIComponent(raw);
  } catch {
    return "";
  }
}

/** The number of a build in a path. Returns 0, which no build has, for any other text. */
export function parseBuildNumber(text: string): number {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0;
}

function handlerOf(handlers: Handlers, method: string): EventHandler | undefined {
  if (method === "HEAD") return handlers.GET;
  return Object.hasOwn(handlers, method) ? handlers[method as Method] : undefined;
}

function allowed(handlers: Handlers): string {
  const methods = Object.keys(handlers);
  return (handlers.GET ? ["GET", "HEAD", ...methods.filter((method) => method !== "GET")] : methods).join(
    ", ",
  );
}
