import { DeadlineExceeded, openThread } from "../../process/thread.ts";
import type { FilterInput } from "./evaluate.ts";
import type { TimedOutcome } from "./thread.ts";

export interface Evaluation extends TimedOutcome {
  /** The outcome is an error, because the deadline passed. */
  isLate: boolean;
}

/** Evaluates filters in a thread, one after the other. */
export interface FilterEvaluator {
  /**
   * Evaluates the first inputs: as many as fit into a moment, and at least one. Returns no evaluation if several inputs
   * were given and one of them missed the deadline.
   * @param signal ends the evaluation
   * @throws Error when the thread fails: the filter may be fine; the signal's reason
   */
  evaluateFirst(inputs: FilterInput[], signal?: AbortSignal): Promise<Evaluation[]>;
  close(): Promise<void>;
}

/** @param deadlineMs for one payload and its filter */
export function openFilterEvaluator({ deadlineMs = 1000 }: { deadlineMs?: number } = {}): FilterEvaluator {
  const module = new URL("./thread.ts", import.meta.url);
  const thread = openThread<{ inputs: FilterInput[] }, TimedOutcome[]>(module, { deadlineMs, copy });
  const error = `Evaluating the filter took longer than ${seconds(deadlineMs)}`;
  const late: Evaluation = { outcome: { error }, ms: deadlineMs, isLate: true };
  return {
    async evaluateFirst(inputs, signal) {
      try {
        const outcomes = await thread.request({ inputs }, signal);
        return outcomes.map((each) => ({ ...each, isLate: false }));
      } catch (failure) {
        if (!(failure instanceof DeadlineExceeded)) throw failure;
        return inputs.length === 1 ? [late] : [];
      }
    },
    close: () => thread.close(),
  };
}

/** Puts all bodies into one buffer: to transfer a buffer costs more than to copy a short body. */
function copy({ inputs }: { inputs: FilterInput[] }) {
  const all = new Uint8Array(inputs.reduce((sum, { body }) => sum + body.length, 0));
  let end = 0;
  const copies = inputs.map((input) => {
    const body = all.subarray(end, end + input.body.length);
    body.set(input.body);
    end += body.length;
    return { ...input, body };
  });
  return { message: { inputs: copies }, transferred: [all.buffer] };
}

function seconds(ms: number): string {
  return ms === 1000 ? "1 second" : `${ms / 1000} seconds`;
}
