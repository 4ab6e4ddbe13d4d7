import { handleRequests } from "../../process/thread.ts";
import type { FilterOutcome } from "./compile.ts";
import { evaluateFilter, type FilterInput } from "./evaluate.ts";

export interface TimedOutcome {
  outcome: FilterOutcome;
  ms: number;
}

/** After this time it responds, so that others may use the thread. */
const maxRequestMs = 20;

/** Evaluates the first inputs, at least one. */
handleRequests(({ inputs }: { inputs: FilterInput[] }): TimedOutcome[] => {
  const outcomes: TimedOutcome[] = [];
  let totalMs = 0;
  for (const input of inputs) {
    const startedAt = performance.now();
    const outcome = evaluateFilter(input);
    const ms = performance.now() - startedAt;
    outcomes.push({ outcome, ms });
    totalMs += ms;
    if (totalMs > maxRequestMs) break;
  }
  return outcomes;
});
