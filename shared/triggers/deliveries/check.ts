import { secondMs } from "../../durations.ts";
import { asBuffer, memoryOf } from "../../process/own-buffers.ts";
import { Refusal } from "../../refusal.ts";
import { threads, workerThreads } from "../../sharing/resources.ts";
import {
  type CheckedPayload,
  type checkInThread,
  checkPayload,
  type PayloadCheck,
} from "../payloads/check.ts";
import type { EncodedBody } from "../payloads/codec.ts";
import type { PayloadFormat } from "../payloads/form.ts";
import { sliceBytes } from "../payloads/problem.ts";
import { busy, DeliveryRefusal } from "./refusals.ts";

const inThread = workerThreads.wrap<typeof checkInThread>(
  new URL("../payloads/check.ts", import.meta.url),
  "checkInThread",
);

/** A body that a check may take away. JSON that it accepts is then in memory only once, as it is stored. */
export interface HeldBody {
  bytes: Buffer;
}

/**
 * Checks a body, then encodes it. The request's signal aborts when the caller disconnects.
 * @throws DeliveryRefusal 400, 503; the signal's reason
 */
export type BodyCheck = (
  organizationId: string,
  body: HeldBody,
  request: { readonly signal: AbortSignal },
  format?: PayloadFormat,
) => Promise<EncodedBody>;

export interface BodyCheckOptions {
  maxDepth: number;
  /** The wait of a large body for its turn. Its sender gives up. */
  maxWaitMs?: number;
}

/** Opens the check of a server's requests, which bounds the wait of a large body. */
export function openBodyCheck({ maxDepth, maxWaitMs = 5 * secondMs }: BodyCheckOptions): BodyCheck {
  return async (organizationId, body, request, format) => {
    const check = { format, maxDepth };
    if (isSmall(body)) return checkBody(organizationId, body, check);
    const deadline = AbortSignal.timeout(maxWaitMs);
    try {
      const signal = AbortSignal.any([request.signal, deadline]); // srvx makes the signal on demand
      return await checkBody(organizationId, body, check, signal);
    } catch (error) {
      const isLate = deadline.aborted && error === deadline.reason;
      const isFull = error instanceof Refusal && !(error instanceof DeliveryRefusal);
      throw isLate || isFull ? busy() : error;
    }
  };
}

/**
 * Checks a small body at once, and any other in a thread, for which organizations take turns.
 * @param signal ends the wait for the turn
 * @throws DeliveryRefusal 400; Refusal 503; the signal's reason
 */
export async function checkBody(
  organizationId: string,
  body: HeldBody,
  check: PayloadCheck,
  signal?: AbortSignal,
): Promise<EncodedBody> {
  if (isSmall(body)) return requireSound(await checkPayload(body.bytes, check));
  return threads.take(organizationId, () => checkLarge(body, check), signal);
}

function isSmall({ bytes }: HeldBody): boolean {
  return bytes.length <= sliceBytes;
}

async function checkLarge(body: HeldBody, check: PayloadCheck): Promise<EncodedBody> {
  const { bytes } = body;
  const { checked, given } = await inThread({ ...check, bytes }, { transferred: memoryOf([bytes]) });
  body.bytes = given ? asBuffer(given) : Buffer.alloc(0);
  const encoded = requireSound(checked);
  return { ...encoded, bytes: asBuffer(encoded.bytes) };
}

/** @throws DeliveryRefusal 400 */
function requireSound(checked: CheckedPayload): EncodedBody {
  if (!("problem" in checked)) return checked;
  const { problem, ...more } = checked;
  throw new DeliveryRefusal(problem, more);
}
