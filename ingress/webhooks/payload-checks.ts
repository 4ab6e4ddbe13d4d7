import { openThread } from "../../shared/runtime/thread.ts";
import { DeliveryRefusal } from "../../shared/triggers/deliveries/refusals.ts";
import { findPayloadProblem, type PayloadProblem } from "../../shared/triggers/payloads/problem.ts";
import type { PayloadToCheck } from "./payload-thread.ts";

/** Parsing a megabyte blocks the event loop for 10 ms. Below this size the thread costs more than it saves. */
const threadFromBytes = 64 * 1024;

/** Checks payloads without blocking other requests. */
export interface PayloadChecks {
  /** @throws DeliveryRefusal 400 if the body is not JSON in UTF-8, or is nested deeper than `maxDepth` */
  requireWellFormed(body: Buffer, maxDepth: number): Promise<void>;
}

export function openPayloadChecks(): PayloadChecks {
  const thread = openThread<PayloadToCheck, PayloadProblem | undefined>(
    new URL("./payload-thread.ts", import.meta.url),
  );
  return {
    async requireWellFormed(body, maxDepth) {
      const isSmall = body.length < threadFromBytes;
      const problem = isSmall ? findPayloadProblem(body, maxDepth) : await thread.request({ body, maxDepth });
      if (problem) throw new DeliveryRefusal(problem);
    },
  };
}
