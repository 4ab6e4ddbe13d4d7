import { Environment, EvaluationError } from "@marcbachmann/cel-js";
import { z } from "zod";

// The library reads more than CEL allows: int('') is 0, a time without its zone is of the machine's. Its duration()
// takes quadratic time for long digits.

const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;
const maxDurationLength = 64;

const time = z.iso.datetime({ offset: true });
const durationText = /^[+-]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+$/;
const libraryDuration = new Environment().registerVariable("text", "string").parse("duration(text)");

/** A whole number of 64 bits; the fraction of a number is cut off. */
export function toInt(value: string | number): bigint {
  const isText = typeof value === "string";
  const isNumber = isText ? /^[+-]?\d{1,19}$/.test(value) : Number.isFinite(value);
  const int = isNumber ? BigInt(isText ? value.replace("+", "") : Math.trunc(value)) : maxInt + 1n;
  if (int < minInt || int > maxInt) throw new EvaluationError("int() takes a number of 64 bits");
  return int;
}

/** RFC 3339 with its offset; a day that the calendar does not have is an error. */
export function toTimestamp(text: string): Date {
  if (text.length > 40 || !time.safeParse(text).success)
    throw new EvaluationError("timestamp() takes a time such as 2026-01-31T12:00:00Z");
  return new Date(text);
}

/** Such as `1h30m`. */
export function toDuration(text: string): unknown {
  if (text.length > maxDurationLength || !durationText.test(text))
    throw new EvaluationError("duration() takes a text such as 1h30m");
  return libraryDuration({ text });
}
