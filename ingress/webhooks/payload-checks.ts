import { openThread } from "../../shared/runtime/thread.ts";
import { DeliveryRefusal } from "../../shared/triggers/deliveries/refusals.ts";
import { findPayloadProblem, type PayloadProblem } from "../../shared/triggers/payloads/problem.ts";
import type { PayloadToCheck } from "./payload-thread.ts";

/** A megabyte blocks the event loop for 10 ms. Below this size the thread costs more. */
const threadFromBytes = 64 * 1024;

export interface PayloadChecks {
  /** @throws DeliveryRefusal 400 */
  requireWellFormed(body: Buffer, maxDepth: number): Promise<void>;
  close(): Promise<void>;
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
    close: () => thread.close(),
  };
}
