import { Environment } from "@marcbachmann/cel-js";
import { contains, matches } from "./functions.ts";

export interface WebhookVariable {
  id: string;
  /** ISO 8601, UTC. */
  created_at: string;
  payload: unknown;
  /** Keys like `HTTP_X_GITHUB_EVENT`. */
  headers: Map<string, string>;
}

/** The library cannot replace functions. */
export const linearPrefix = "linear_";
/** Hostile payloads make them slow. */
export const slowFunctions = ["matches", "contains"];

const sync = { async: false };

export const environment = new Environment({ homogeneousAggregateLiterals: false })
  .registerVariable({
    name: "webhook",
    schema: { id: "string", created_at: "string", payload: "dyn", headers: "map<string, string>" },
  })
  .registerFunction(`${linearPrefix}matches(string, string): bool`, matches, sync)
  .registerFunction(`string.${linearPrefix}matches(string): bool`, matches, sync)
  .registerFunction(`string.${linearPrefix}contains(string): bool`, contains, sync);
