import { DeadlineExceeded, openThread } from "../../runtime/thread.ts";
import type { FilterOutcome } from "./compile.ts";
import type { FilterInput } from "./evaluate.ts";

/** Evaluates filters off the main thread; no expression or payload can hold anybody up for longer than the deadline. */
export interface FilterEvaluator {
  /**
   * Ask as many as you like at the same time, without waiting for answers.
   * @throws Error when the thread cannot start, or dies: a fault of this machine, which says nothing of the filter
   */
  evaluate(question: FilterInput): Promise<FilterOutcome>;
  close(): Promise<void>;
}

/** @param deadlineMs how long parsing one payload and evaluating its filter may take */
export function openFilterEvaluator({ deadlineMs = 1000 }: { deadlineMs?: number } = {}): FilterEvaluator {
  const module = new URL("./thread.ts", import.meta.url);
  const thread = openThread<FilterInput, FilterOutcome>(module, { deadlineMs });
  const late = { error: `Evaluating the filter took longer than ${seconds(deadlineMs)}` };
  return {
    evaluate: (question) =>
      thread.request(question).catch((error: unknown) => {
        if (error instanceof DeadlineExceeded) return late;
        throw error;
      }),
    close: () => thread.close(),
  };
}

function seconds(ms: number): string {
  return ms === 1000 ? "1 second" : `${ms / 1000} seconds`;
}
