import { patterns } from "../../shared/paths.ts";
import type { Route } from "../http/routing.ts";
import { missingRoute } from "../operations/missing.ts";

/** Parts of the agent API that this server does not have. Agents stop asking after a 404. */
export const missingRoutes: Route[] = [
  missingRoute(patterns.agentStream, "Agents ping here: there is no stream", ["POST"]),
  // Agents know a miss by these words alone.
  missingRoute("/v3/cache_registries/:registry/retrieve", "Cache entry not found", ["POST"]),
  missingRoute("/v3/cache_registries/:registry/store", "This server keeps no caches"),
  missingRoute("/v3/cache_registries/:registry/commit", "This server keeps no caches"),
  missingRoute("/v3/jobs/:id/repository_access_token", "This server has no repository tokens"),
];
