import { handleRequests } from "../../runtime/thread.ts";
import type { FilterOutcome } from "./compile.ts";
import { evaluateFilter, type FilterInput } from "./evaluate.ts";

export interface TimedOutcome {
  outcome: FilterOutcome;
  /** Without the wait for the thread. */
  ms: number;
}

handleRequests((input: FilterInput): TimedOutcome => {
  const startedAt = performance.now();
  return { outcome: evaluateFilter(input), ms: performance.now() - startedAt };
});
