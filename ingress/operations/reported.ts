import { z } from "zod";
import { excerpt } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { toStorable } from "../../shared/validation.ts";

// Members of reports. Agents report what has happened, and forget a report that is refused for good: so none is refused
// for the form of a value.

const lowestStatus = -(2 ** 31);
const highestStatus = 2 ** 32 - 1;

/** An exit status as it counts. */
export interface ReportedStatus {
  exitStatus: number;
  /** The beginning of the given one, if it is another. */
  given?: string;
}

/** A whole number of 32 bits, with or without a sign. One beyond is the nearest; what is no number is -1. */
export const exitStatus = z
  .unknown()
  .optional()
  .transform((given): ReportedStatus => {
    const exitStatus = toExitStatus(given);
    const isOther = given !== undefined && Number(given) !== exitStatus;
    return isOther ? { exitStatus, given: excerpt(JSON.stringify(given)) } : { exitStatus };
  })
  .meta({ description: "A whole number, or its text, from -2^31 to 2^32 - 1; others become the nearest" });

function toExitStatus(given: unknown): number {
  const isText = typeof given === "string" && given.trim() !== "";
  const number = isText || typeof given === "number" ? Number(given) : Number.NaN;
  if (Number.isNaN(number)) return -1;
  const whole = Math.sign(number) * Math.ceil(Math.abs(number)); // a fraction is not 0, which means success
  return Math.min(Math.max(whole, lowestStatus), highestStatus) + 0; // -0 is 0
}

/** Logs what came if it counts as another exit status. @returns the one as which it counts */
export function countedStatus({ log }: Services, jobId: string, reported: ReportedStatus): number {
  const { exitStatus, given } = reported;
  if (given !== undefined) log.warn({ jobId, given, exitStatus }, "an odd exit status counts as another");
  return exitStatus;
}

/** Text, which is cut, or a number. Null: anything else. */
export function reportedText(maxLength: number) {
  return z
    .unknown()
    .optional()
    .transform((given) => toText(given, maxLength));
}

function toText(given: unknown, maxLength: number): string | null {
  const text = typeof given === "number" ? String(given) : given;
  return typeof text === "string" ? toStorable(text.slice(0, maxLength)) : null;
}

/** True, also as text or 1. False: anything else. */
export const flag = z
  .unknown()
  .optional()
  .transform((given) => given === true || given === 1 || given === "true" || given === "1");

/** A member that nothing reads. */
export const unread = z.unknown().optional();
