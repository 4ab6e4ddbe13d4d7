import { type EventHandler, getRouterParam, type H3, type H3Event } from "h3";
import type { BuildKey } from "../../shared/builds/rows/build-store.ts";
import { isId, lowerCaseId } from "../../shared/ids.ts";
import { Refusal } from "../../shared/refusal.ts";
import { runFor } from "../../shared/sharing/owner.ts";
import { noContent, setHeaders, stageLength } from "./respond.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type Handlers = Partial<Record<Method, EventHandler>>;
export type Route = [pattern: string, handlers: Handlers];

/** Routes with the same pattern become one. */
export function mergeRoutes(routes: Route[]): Route[] {
  const byPattern = Map.groupBy(routes, ([pattern]) => pattern);
  return [...byPattern].map(([pattern, same]) => [
    pattern,
    Object.assign({}, ...same.map(([, handlers]) => handlers)),
  ]);
}

/** Runs before a request is refused for its method. */
export type BeforeRefusal = (event: H3Event) => Promise<void>;

/** Adds a route. Other methods answer 405 with `Allow`, where h3 would answer 404. */
export function route(app: H3, pattern: string, handlers: Handlers, beforeRefusal?: BeforeRefusal): void {
  const allow = allowedMethods(handlers);
  app.all(pattern, (event: H3Event) => {
    const { method } = event.req;
    const handler = findHandler(handlers, method);
    if (!handler) return refuseMethod(event, allow, beforeRefusal);
    return runFor(undefined, () => (method === "HEAD" ? answerHead(event, handler) : handler(event)));
  });
}

async function answerHead(event: H3Event, handler: EventHandler): Promise<unknown> {
  return stageLength(event, await handler(event));
}

async function refuseMethod(
  event: H3Event,
  allow: string,
  beforeRefusal: BeforeRefusal | undefined,
): Promise<never> {
  await beforeRefusal?.(event);
  throw new Refusal(405, "Method not allowed", { headers: { Allow: allow } });
}

/** Adds a route that browsers may call from any origin. OPTIONS needs no authentication. */
export function restRoute(app: H3, pattern: string, handlers: Handlers, beforeRefusal: BeforeRefusal): void {
  const preflight = {
    Allow: `${allowedMethods(handlers)}, OPTIONS`,
    "Access-Control-Allow-Methods": allowedMethods(handlers),
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
  };
  app.options(pattern, (event: H3Event) => {
    setHeaders(event, preflight);
    return noContent();
  });
  route(app, pattern, handlers, beforeRefusal);
}

/**
 * Returns a decoded parameter of the path, if the route has it. A broken percent escape makes it empty. A UUID may be
 * upper-case (RFC 9562 §4).
 */
export function pathParameter(event: H3Event, name: string): string | undefined {
  if (getRouterParam(event, name) === undefined) return undefined;
  return lowerCaseId(pathText(event, name) ?? "");
}

/** Returns a decoded parameter of the path as it was written: text that is no id. Undefined: its escapes are broken. */
export function pathText(event: H3Event, name: string): string | undefined {
  try {
    return decodeURIComponent(getRouterParam(event, name) ?? ""); // h3's own decoding fails if another is broken
  } catch {
    return undefined;
  }
}

/** Returns the number of a build, or 0, which no build has. */
export function parseBuildNumber(text: string): number {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0;
}

/** Returns the number of a build, or its id: clients know either. */
export function parseBuildKey(text: string): BuildKey {
  return isId(text) ? text : parseBuildNumber(text);
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
