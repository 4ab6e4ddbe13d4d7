import { handleRequests } from "../../process/thread.ts";
import type { FilterOutcome } from "./compile.ts";
import { evaluateFilter, type FilterInput } from "./evaluate.ts";

export interface TimedOutcome {
  outcome: FilterOutcome;
  /** CPU time: a filter is not slow because the machine is busy. */
  ms: number;
}

/** After this time it responds, so that others may use the thread. */
const maxRequestMs = 20;

/** Evaluates the first inputs, at least one. */
handleRequests(({ inputs }: { inputs: FilterInput[] }): TimedOutcome[] => {
  const outcomes: TimedOutcome[] = [];
  let totalMs = 0;
  for (const input of inputs) {
    const before = process.threadCpuUsage();
    const outcome = evaluateFilter(input);
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1000;
    outcomes.push({ outcome, ms });
    totalMs += ms;
    if (totalMs > maxRequestMs) break;
  }
  return outcomes;
});
