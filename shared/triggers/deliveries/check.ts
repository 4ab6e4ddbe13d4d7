import { type TurnsBound, turns as turnBounds } from "../../sharing/bounds.ts";
import { openTurns } from "../../sharing/turns.ts";
import { type EncodedBody, encodeBody } from "../payloads/codec.ts";
import { describeInvalidJson, findPayloadProblem, sliceBytes } from "../payloads/problem.ts";
import { busy, DeliveryRefusal, tooManyLarge } from "./refusals.ts";

/**
 * Checks a body, then encodes it. The request's signal aborts when the caller disconnects.
 * @throws DeliveryRefusal 400, 503; the signal's reason
 */
export type BodyCheck = (
  organizationId: string,
  body: Buffer,
  request: { readonly signal: AbortSignal },
) => Promise<EncodedBody>;

export interface BodyCheckOptions {
  maxDepth: number;
  /** Of large bodies. */
  bound?: Pick<TurnsBound, "maxWaiting" | "maxWaitingPerOwner" | "maxWaitMs">;
}

/** @throws DeliveryRefusal 400 */
export async function checkBody(body: Buffer, maxDepth: number): Promise<EncodedBody> {
  const problem = await findPayloadProblem(body, maxDepth);
  if (problem === "invalid_json")
    throw new DeliveryRefusal(problem, { message: `Payload ${describeInvalidJson(body)}` });
  if (problem) throw new DeliveryRefusal(problem);
  return encodeBody(body);
}

/** Checks small bodies at once. Organizations take turns with bodies of more than one slice. */
export function openBodyCheck({ maxDepth, bound }: BodyCheckOptions): BodyCheck {
  const bounds = { ...turnBounds.payloads, ...bound };
  const turns = openTurns(bounds, (full) => (full === "owner" ? tooManyLarge() : busy()));

  const checkInTurn: BodyCheck = async (organizationId, body, request) => {
    const deadline = AbortSignal.timeout(bounds.maxWaitMs);
    try {
      const signal = AbortSignal.any([request.signal, deadline]); // srvx makes the signal on demand
      return await turns.take(organizationId, () => checkBody(body, maxDepth), signal);
    } catch (error) {
      throw deadline.aborted && error === deadline.reason ? busy() : error;
    }
  };

  return (organizationId, body, request) =>
    body.length <= sliceBytes ? checkBody(body, maxDepth) : checkInTurn(organizationId, body, request);
}
