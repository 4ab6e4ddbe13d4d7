import { secondMs } from "../../durations.ts";
import { openTurns, TurnRefused } from "../../runtime/turns.ts";
import { type EncodedBody, encodeBody } from "../payloads/codec.ts";
import { findPayloadProblem, sliceBytes } from "../payloads/problem.ts";
import { DeliveryRefusal } from "./refusals.ts";

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
  /** Of large bodies. A body that waits stays in memory. */
  maxWaiting?: number;
  maxWaitingPerOrganization?: number;
  maxWaitMs?: number;
}

/** Of libuv's four threads, which also deflate small bodies. */
const maxAtOnce = 3;
const maxAtOncePerOrganization = 2;
const retryAfter = { "Retry-After": "10" };

/** @throws DeliveryRefusal 400 */
export async function checkBody(body: Buffer, maxDepth: number): Promise<EncodedBody> {
  const problem = await findPayloadProblem(body, maxDepth);
  if (problem) throw new DeliveryRefusal(problem);
  return encodeBody(body);
}

/** Checks small bodies at once. Organizations take turns with bodies of more than one slice. */
export function openBodyCheck({
  maxDepth,
  maxWaiting = 400,
  maxWaitingPerOrganization = 100,
  maxWaitMs = 10 * secondMs,
}: BodyCheckOptions): BodyCheck {
  const turns = openTurns({
    maxRunning: maxAtOnce,
    maxRunningPerOwner: maxAtOncePerOrganization,
    maxWaiting,
    maxWaitingPerOwner: maxWaitingPerOrganization,
  });

  const checkInTurn: BodyCheck = async (organizationId, body, request) => {
    const deadline = AbortSignal.timeout(maxWaitMs);
    try {
      const signal = AbortSignal.any([request.signal, deadline]); // srvx makes the signal on demand
      return await turns.take(organizationId, () => checkBody(body, maxDepth), signal);
    } catch (error) {
      if (deadline.aborted && error === deadline.reason)
        throw new DeliveryRefusal("busy", { headers: retryAfter });
      if (!(error instanceof TurnRefused)) throw error;
      const cause = error.bound === "owner" ? "too_many_large" : "busy";
      throw new DeliveryRefusal(cause, { headers: retryAfter });
    }
  };

  return (organizationId, body, request) =>
    body.length <= sliceBytes ? checkBody(body, maxDepth) : checkInTurn(organizationId, body, request);
}
