import { DeadlineExceeded, openThread } from "../../runtime/thread.ts";
import type { FilterOutcome } from "./compile.ts";
import type { FilterInput } from "./evaluate.ts";

export interface FilterEvaluator {
  /** @throws Error when the thread fails: the filter may be fine */
  evaluate(input: FilterInput): Promise<FilterOutcome>;
  close(): Promise<void>;
}

/** @param deadlineMs for one payload and its filter */
export function openFilterEvaluator({ deadlineMs = 1000 }: { deadlineMs?: number } = {}): FilterEvaluator {
  const module = new URL("./thread.ts", import.meta.url);
  const thread = openThread<FilterInput, FilterOutcome>(module, { deadlineMs });
  const exceeded: FilterOutcome = { error: `Evaluating the filter took longer than ${seconds(deadlineMs)}` };
  return {
    evaluate: (input) =>
      thread.request(input).catch((error: unknown) => {
        if (error instanceof DeadlineExceeded) return exceeded;
        throw error;
      }),
    close: () => thread.close(),
  };
}

function seconds(ms: number): string {
  return ms === 1000 ? "1 second" : `${ms / 1000} seconds`;
}
