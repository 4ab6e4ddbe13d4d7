import { secondMs } from "../durations.ts";

/**
 * Reads a Retry-After header, which has seconds or a date.
 * @returns the milliseconds from now, negative for a date that has passed. Undefined: there is none
 */
export function readRetryAfterMs(text: string | undefined, now: Date): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * secondMs : Date.parse(text) - now.getTime();
  return Number.isNaN(ms) ? undefined : ms;
}
