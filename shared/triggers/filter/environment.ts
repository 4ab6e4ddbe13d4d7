import { Environment } from "@marcbachmann/cel-js";
import { matches } from "../../patterns.ts";
import { contains } from "../../text-search.ts";
import { toDuration, toInt, toTimestamp } from "./conversions.ts";

export interface WebhookVariable {
  id: string;
  /** ISO 8601, UTC. */
  created_at: string;
  payload: unknown;
  /** Keys like `HTTP_X_GITHUB_EVENT`. */
  headers: Map<string, string>;
}

/** The library cannot replace functions: the rules rename them. */
export const ownPrefix = "own_";
/** Functions that replace the library's: hostile payloads make those slow, or get wrong values from them. */
export const ownFunctions = ["matches", "contains", "int", "timestamp", "duration"];

const sync = { async: false };

export const environment = new Environment({ homogeneousAggregateLiterals: false })
  .registerVariable({
    name: "webhook",
    schema: { id: "string", created_at: "string", payload: "dyn", headers: "map<string, string>" },
  })
  .registerFunction(`${ownPrefix}matches(string, string): bool`, matches, sync)
  .registerFunction(`string.${ownPrefix}matches(string): bool`, matches, sync)
  .registerFunction(`string.${ownPrefix}contains(string): bool`, contains, sync)
  .registerFunction(`${ownPrefix}int(int): int`, (value: bigint) => value, sync)
  .registerFunction(`${ownPrefix}int(double): int`, toInt, sync)
  .registerFunction(`${ownPrefix}int(string): int`, toInt, sync)
  .registerFunction(`${ownPrefix}timestamp(string): google.protobuf.Timestamp`, toTimestamp, sync)
  .registerFunction(`${ownPrefix}duration(string): google.protobuf.Duration`, toDuration, sync);
