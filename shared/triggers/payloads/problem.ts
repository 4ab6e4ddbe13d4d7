import { isUtf8 } from "node:buffer";
import { setImmediate as nextTurn } from "node:timers/promises";
import { JsonScan, type PayloadProblem } from "./json-scan.ts";

/** Blocks the event loop for 0.1 to 0.7 ms. */
export const sliceBytes = 128 * 1024;

/** Accepts JSON in UTF-8, nested up to `maxDepth`. */
export function findPayloadProblem(body: Uint8Array, maxDepth: number): Promise<PayloadProblem | undefined>;
/** Also bounds its values: their number decides how long `JSON.parse` blocks the event loop. */
export function findPayloadProblem(
  body: Uint8Array,
  maxDepth: number,
  maxValues: number,
): Promise<PayloadProblem | "too_many_values" | undefined>;
export async function findPayloadProblem(
  body: Uint8Array,
  maxDepth: number,
  maxValues = Number.POSITIVE_INFINITY,
): Promise<PayloadProblem | "too_many_values" | undefined> {
  // Takes 0.2 ms for five megabytes.
  if (!isUtf8(body)) return "invalid_json";
  const scan = new JsonScan(body, maxDepth);
  for (;;) {
    const problem = scan.advance(sliceBytes);
    if (problem) return problem;
    if (scan.values > maxValues) return "too_many_values";
    if (scan.isAtEnd) return scan.isComplete ? undefined : "invalid_json";
    await nextTurn();
  }
}

const byteOrderMarks = [
  [Buffer.from([0xef, 0xbb, 0xbf]), "UTF-8"],
  [Buffer.from([0xff, 0xfe]), "UTF-16"],
  [Buffer.from([0xfe, 0xff]), "UTF-16"],
] as const;

/** Says what is wrong with invalid JSON. Nobody sees the byte order mark that some editors and shells put first. */
export function describeInvalidJson(body: Uint8Array): string {
  const mark = byteOrderMarks.find(([bytes]) => bytes.equals(body.subarray(0, bytes.length)));
  if (!mark) return "is not valid JSON";
  return `begins with a byte order mark of ${mark[1]}: send JSON in UTF-8 without one`;
}
