import { secondMs } from "../../durations.ts";
import { Refusal } from "../../refusal.ts";
import { threads } from "../../sharing/resources.ts";
import { type EncodedBody, encodeBody } from "../payloads/codec.ts";
import { type PayloadFormat, readFormPayload } from "../payloads/form.ts";
import { describeInvalidJson, findPayloadProblem, sliceBytes } from "../payloads/problem.ts";
import { busy, DeliveryRefusal } from "./refusals.ts";

/**
 * Checks a body, then encodes it. The request's signal aborts when the caller disconnects.
 * @throws DeliveryRefusal 400, 503; the signal's reason
 */
export type BodyCheck = (
  organizationId: string,
  body: Buffer,
  request: { readonly signal: AbortSignal },
  format?: PayloadFormat,
) => Promise<EncodedBody>;

export interface BodyCheckOptions {
  maxDepth: number;
  /** The wait of a large body for its turn. Its sender gives up. */
  maxWaitMs?: number;
}

/** @returns the JSON. @throws DeliveryRefusal 400 */
export async function checkBody(
  given: Buffer,
  maxDepth: number,
  format: PayloadFormat = "json",
): Promise<EncodedBody> {
  const body = format === "form" ? await readFormPayload(given) : given;
  if (!body) throw new DeliveryRefusal("invalid_json", { message: "The form has no parameter payload" });
  const problem = await findPayloadProblem(body, maxDepth);
  if (problem === "invalid_json")
    throw new DeliveryRefusal(problem, { message: `Payload ${describeInvalidJson(body)}` });
  if (problem) throw new DeliveryRefusal(problem);
  return encodeBody(body);
}

/** Checks small bodies at once. Organizations take turns with bodies of more than one slice. */
export function openBodyCheck({ maxDepth, maxWaitMs = 5 * secondMs }: BodyCheckOptions): BodyCheck {
  const checkInTurn: BodyCheck = async (organizationId, body, request, format) => {
    const deadline = AbortSignal.timeout(maxWaitMs);
    try {
      const signal = AbortSignal.any([request.signal, deadline]); // srvx makes the signal on demand
      return await threads.take(organizationId, () => checkBody(body, maxDepth, format), signal);
    } catch (error) {
      const isLate = deadline.aborted && error === deadline.reason;
      const isFull = error instanceof Refusal && !(error instanceof DeliveryRefusal);
      throw isLate || isFull ? busy() : error;
    }
  };

  return (organizationId, body, request, format) =>
    body.length <= sliceBytes
      ? checkBody(body, maxDepth, format)
      : checkInTurn(organizationId, body, request, format);
}
