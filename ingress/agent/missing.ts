import { defineHandler } from "h3";
import { patterns } from "../../shared/paths.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Handlers, Method, Route } from "../http/routing.ts";

const anyMethod: Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Parts of the agent API that this server does not have. Agents stop asking after a 404. */
export const missingRoutes: Route[] = [
  refuse(patterns.agentStream, "Agents ping here: there is no stream", ["POST"]),
  ...Object.entries({
    "repository tokens": ["/v3/jobs/:id/repository_access_token"],
  }).flatMap(([name, paths]) => paths.map((path) => refuse(path, `This server has no ${name}`, anyMethod))),
];

function refuse(path: string, message: string, methods: Method[]): Route {
  const handler = defineHandler(() => {
    throw new Refusal(404, message);
  });
  const handlers: Handlers = Object.fromEntries(methods.map((method) => [method, handler]));
  return [path, handlers];
}
