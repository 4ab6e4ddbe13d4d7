import { secondMs } from "../../durations.ts";
import { DeadlineExceeded } from "../../process/threads.ts";
import { resources } from "../../sharing/bounds.ts";
import { threads, workerThreads } from "../../sharing/resources.ts";
import { openTurns } from "../../sharing/turns.ts";
import type { Reading } from "../../sources/happened.ts";
import type { Delivery } from "../deliveries/store.ts";
import type { HostEvent } from "../events/host-event.ts";
import type { EncodedPayload } from "../payloads/store.ts";
import type { EvaluationResult, evaluateFirst, ThreadInput } from "./evaluate.ts";

export interface Evaluation {
  outcome: EvaluationResult;
  /** The outcome is an error, because the deadline passed. */
  isLate: boolean;
}

/**
 * Evaluates the first inputs in a thread: as many as fit into a moment, and at least one.
 * @param signal ends the evaluation
 * @throws Error when the thread fails: the filter may be fine; the signal's reason
 */
export type EvaluateFilters = (inputs: ThreadInput[], signal?: AbortSignal) => Promise<Evaluation[]>;

const maxMs = 50;
/** Payloads of more bytes together are evaluated one slice at a time. */
export const largeBytes = 1024 * 1024;

const inThread = workerThreads.wrap<typeof evaluateFirst>(
  new URL("./evaluate.ts", import.meta.url),
  "evaluateFirst",
);
/** A payload takes up to thirty times as much once it is parsed: with one in each of two threads a worker took 604 MB. */
const large = openTurns({ ...resources.threads, max: 1 });

/** Runs the task in the organization's turn to evaluate payloads of so many bytes. @throws Refusal 503 if too many wait */
export function takeFilterTurn<Result>(
  organizationId: string,
  bytes: number,
  task: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const take = () => threads.take(organizationId, task, signal);
  return bytes > largeBytes ? large.take(organizationId, take, signal) : take();
}

export function toFilterInput(
  task: { expression: string; explains?: boolean } | { event: HostEvent },
  { id, receivedAt, size }: Pick<Delivery, "id" | "receivedAt" | "size">,
  { headers, body: { codec, bytes } }: Pick<EncodedPayload, "headers" | "body">,
): ThreadInput {
  return { ...task, id, receivedAt, headers, body: bytes, codec, size };
}

/** The reading of an event, which may have taken too long. */
export function readingOf(outcome: EvaluationResult): Reading {
  if ("reading" in outcome) return outcome.reading;
  return { problem: "It took too long to read" };
}

/** @param deadlineMs CPU time for one payload and its filter */
export function openFilterEvaluator(deadlineMs = secondMs): EvaluateFilters {
  const error = `Evaluating the filter took longer than ${seconds(deadlineMs)}`;
  const late: Evaluation = { outcome: { error }, isLate: true };
  const evaluate: EvaluateFilters = async (inputs, signal) => {
    const evaluated = new Int32Array(new SharedArrayBuffer(4));
    const { copies, transferred } = copyBodies(inputs);
    const options = { deadlineMs: deadlineMs + (inputs.length > 1 ? maxMs : 0), signal, transferred };
    try {
      const outcomes = await inThread({ inputs: copies, evaluated, maxMs }, options);
      return outcomes.map((outcome) => ({ outcome, isLate: false }));
    } catch (failure) {
      if (!(failure instanceof DeadlineExceeded)) throw failure;
      const [lateAt = 0] = evaluated;
      if (lateAt === 0) return [late];
      const earlier = await evaluate(inputs.slice(0, lateAt), signal); // the thread ended with their outcomes
      return earlier.length === lateAt ? [...earlier, late] : earlier;
    }
  };
  return evaluate;
}

/** Puts all bodies into one buffer: to transfer a buffer costs more than to copy a short body. */
function copyBodies(inputs: ThreadInput[]) {
  const all = new Uint8Array(inputs.reduce((sum, { body }) => sum + body.length, 0));
  let end = 0;
  const copies = inputs.map((input) => {
    const body = all.subarray(end, end + input.body.length);
    body.set(input.body);
    end += body.length;
    return { ...input, body };
  });
  return { copies, transferred: [all.buffer] };
}

function seconds(ms: number): string {
  return ms === 1000 ? "1 second" : `${ms / 1000} seconds`;
}
