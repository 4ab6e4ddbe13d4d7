import { DeadlineExceeded, openThread } from "../../runtime/thread.ts";
import type { FilterInput } from "./evaluate.ts";
import type { TimedOutcome } from "./thread.ts";

export interface Evaluation extends TimedOutcome {
  /** The outcome is an error, because the deadline passed. */
  isLate: boolean;
}

/** Evaluates filters in a thread, one after the other. */
export interface FilterEvaluator {
  /**
   * @param signal ends the evaluation
   * @throws Error when the thread fails: the filter may be fine; the signal's reason
   */
  evaluate(input: FilterInput, signal?: AbortSignal): Promise<Evaluation>;
  close(): Promise<void>;
}

/** @param deadlineMs for one payload and its filter */
export function openFilterEvaluator({ deadlineMs = 1000 }: { deadlineMs?: number } = {}): FilterEvaluator {
  const module = new URL("./thread.ts", import.meta.url);
  const thread = openThread<FilterInput, TimedOutcome>(module, { deadlineMs });
  const error = `Evaluating the filter took longer than ${seconds(deadlineMs)}`;
  const late: Evaluation = { outcome: { error }, ms: deadlineMs, isLate: true };
  return {
    async evaluate(input, signal) {
      try {
        return { ...(await thread.request(input, signal)), isLate: false };
      } catch (failure) {
        if (failure instanceof DeadlineExceeded) return late;
        throw failure;
      }
    },
    close: () => thread.close(),
  };
}

function seconds(ms: number): string {
  return ms === 1000 ? "1 second" : `${ms / 1000} seconds`;
}
