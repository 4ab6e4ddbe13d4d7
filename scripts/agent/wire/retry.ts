import { setTimeout as sleep } from "node:timers/promises";
import { secondMs } from "../../../shared/durations.ts";
import { isRetryable } from "./client.ts";

export interface Retries {
  /** Waits between attempts, in milliseconds. */
  waitsMs: number[];
  isRetryable: (error: unknown) => boolean;
  signal?: AbortSignal | undefined;
  onRetry?: (error: unknown, waitMs: number) => void;
}

/** The wire's schedules. */
export const waits = {
  /** To register and to connect. A server that starts beside the agent is ready soon. */
  patient: [1, 1, 2, 3, 5, ...Array<number>(28).fill(10)].map((seconds) => seconds * secondMs),
  accept: Array<number>(29).fill(5 * secondMs),
  start: doubling(7, 32),
  /** About ten minutes. */
  chunks: doubling(12, 120),
  finish: doubling(12, 120),
  heartbeat: Array<number>(9).fill(5 * secondMs),
  disconnect: Array<number>(3).fill(secondMs),
  metaData: Array<number>(9).fill(5 * secondMs),
  artifacts: Array<number>(9).fill(5 * secondMs),
  annotations: Array<number>(4).fill(secondMs),
  secrets: Array<number>(9).fill(5 * secondMs),
  steps: Array<number>(9).fill(5 * secondMs),
  upload: Array<number>(59).fill(5 * secondMs),
};

/** @throws the error of the last attempt, or the signal's reason */
export async function retry<T>(attempt: () => Promise<T>, options: Retries): Promise<T> {
  for (const waitMs of options.waitsMs) {
    options.signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!options.isRetryable(error)) throw error;
      options.onRetry?.(error, waitMs);
      await sleep(waitMs, undefined, options.signal ? { signal: options.signal } : {});
    }
  }
  return attempt();
}

export const onAnyError = () => true;
export const whenRetryable = isRetryable;

function doubling(attempts: number, maxSeconds: number): number[] {
  return Array.from({ length: attempts - 1 }, (_, index) => Math.min(2 ** index, maxSeconds) * secondMs);
}
