import type { Services } from "../../shared/services/services.ts";
import { agentAuthenticators } from "./agent.ts";
import type { Attempts } from "./attempts.ts";
import type { Authenticators } from "./callers.ts";
import { requireCaller } from "./principal.ts";

/** The authenticators of all operations. */
export function openAuthenticators(services: Services, attempts: Attempts): Authenticators {
  return {
    accessToken: (event, needs) => requireCaller(services, event, needs),
    ...agentAuthenticators(services, attempts),
  };
}
