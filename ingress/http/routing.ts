import { type EventHandler, getRouterParam, type H3, type H3Event } from "h3";
import { Refusal } from "../../shared/refusal.ts";
import { noContent, setHeaders } from "./respond.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type Handlers = Partial<Record<Method, EventHandler>>;
export type Route = [pattern: string, handlers: Handlers];

/** Adds a route. Other methods answer 405 with `Allow`, where h3 would answer 404. */
export function route(app: H3, pattern: string, handlers: Handlers): void {
  const allow = allowedMethods(handlers);
  app.all(pattern, (event: H3Event) => {
    const handler = findHandler(handlers, event.req.method);
    if (!handler) throw new Refusal(405, "Method not allowed", { headers: { Allow: allow } });
    return handler(event);
  });
}

/** Adds a route that browsers may call from any origin. OPTIONS needs no authentication. */
export function restRoute(app: H3, pattern: string, handlers: Handlers): void {
  const preflight = {
    Allow: `${allowedMethods(handlers)}, OPTIONS`,
    "Access-Control-Allow-Methods": allowedMethods(handlers),
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
  };
  app.options(pattern, (event: H3Event) => {
    setHeaders(event, preflight);
    return noContent();
  });
  route(app, pattern, handlers);
}

/** Returns a decoded parameter of the path, if the route has it. A broken percent escape makes it empty. */
export function pathParameter(event: H3Event, name: string): string | undefined {
  const raw = getRouterParam(event, name); // h3's own decoding fails if another parameter is broken
  try {
    return raw && decodeURIComponent(raw);
  } catch {
    return "";
  }
}

/** Returns the number of a build, or 0, which no build has. */
export function parseBuildNumber(text: string): number {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0;
}

function findHandler(handlers: Handlers, method: string): EventHandler | undefined {
  if (method === "HEAD") return handlers.GET;
  return Object.hasOwn(handlers, method) ? handlers[method as Method] : undefined;
}

function allowedMethods(handlers: Handlers): string {
  const methods = Object.keys(handlers);
  return (handlers.GET ? ["GET", "HEAD", ...methods.filter((method) => method !== "GET")] : methods).join(
    ", ",
  );
}
