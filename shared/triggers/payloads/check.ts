import { asBuffer, freeBuffers, memoryOf } from "../../process/own-buffers.ts";
import { type EncodedBody, encodeBody, encodeBodyInThread } from "./codec.ts";
import { type PayloadFormat, readFormPayload } from "./form.ts";
import type { PayloadProblem } from "./json-scan.ts";
import { describeInvalidJson, findPayloadProblem } from "./problem.ts";

export interface PayloadCheck {
  /** Default: JSON. */
  format?: PayloadFormat | undefined;
  maxDepth: number;
}

export type CheckedPayload = EncodedBody | { problem: PayloadProblem; message?: string };

/** Checks a payload, and encodes it. */
export async function checkPayload(
  given: Buffer,
  { format, maxDepth }: PayloadCheck,
  encode: (body: Buffer) => EncodedBody | Promise<EncodedBody> = encodeBody,
): Promise<CheckedPayload> {
  const body = format === "form" ? readFormPayload(given) : given;
  if (!body) return { problem: "invalid_json", message: "The form has no parameter payload" };
  const problem = await findPayloadProblem(body, maxDepth);
  if (!problem) return encode(body);
  const refused =
    problem === "invalid_json" ? { problem, message: `Payload ${describeInvalidJson(body)}` } : { problem };
  if (body !== given) freeBuffers([body]);
  return refused;
}

/**
 * As `checkPayload`, in a thread that may block.
 * @returns also the given bytes, if they are shown with a refusal, or signed as a form
 */
export async function checkInThread({ bytes, ...check }: PayloadCheck & { bytes: Uint8Array }): Promise<{
  checked: CheckedPayload;
  given: Uint8Array | undefined;
  transferred: ArrayBuffer[];
}> {
  const given = asBuffer(bytes);
  const checked = await checkPayload(given, check, encodeBodyInThread);
  const hasProblem = "problem" in checked;
  const made = hasProblem ? [] : [checked.bytes];
  if (hasProblem || check.format === "form")
    return { checked, given, transferred: memoryOf([...made, given]) };
  return { checked, given: undefined, transferred: memoryOf(made) };
}
