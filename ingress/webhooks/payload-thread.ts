import { handleRequests } from "../../shared/runtime/thread.ts";
import { findPayloadProblem } from "../../shared/triggers/payloads/problem.ts";

export interface PayloadToCheck {
  body: Uint8Array;
  maxDepth: number;
}

// The thread behind `payload-checks.ts`.
handleRequests(({ body, maxDepth }: PayloadToCheck) => findPayloadProblem(body, maxDepth));
