import { secondMs } from "../../durations.ts";
import { openTurns, TurnRefused } from "../../sharing/turns.ts";
import { type EncodedBody, encodeBody } from "../payloads/codec.ts";
import { findPayloadProblem, sliceBytes } from "../payloads/problem.ts";
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
  /** The large bodies that may wait: they stay in memory. */
  maxWaiting?: number;
  maxWaitingPerOrganization?: number;
  maxWaitMs?: number;
}

/** The limit of all checks: three of libuv's four threads, which also deflate small bodies. */
const maxAtOnce = 3;
/** The limit of an organization: a second check would take another core from others, to save 40 ms. */
const maxAtOncePerOrganization = 1;

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
  maxWaitMs = 5 * secondMs,
}: BodyCheckOptions): BodyCheck {
  const turns = openTurns({
    maxRunning: maxAtOnce,
    maxRunningPerOwner: maxAtOncePerOrganization,
    restFactor: 1,
    maxWaiting,
    maxWaitingPerOwner: maxWaitingPerOrganization,
  });

  const checkInTurn: BodyCheck = async (organizationId, body, request) => {
    const deadline = AbortSignal.timeout(maxWaitMs);
    try {
      const signal = AbortSignal.any([request.signal, deadline]); // srvx makes the signal on demand
      return await turns.take(organizationId, () => checkBody(body, maxDepth), signal);
    } catch (error) {
      if (deadline.aborted && error === deadline.reason) throw busy();
      if (!(error instanceof TurnRefused)) throw error;
      throw error.bound === "owner" ? tooManyLarge() : busy();
    }
  };

  return (organizationId, body, request) =>
    body.length <= sliceBytes ? checkBody(body, maxDepth) : checkInTurn(organizationId, body, request);
}
