import { handleRequests } from "../../shared/runtime/thread.ts";
import { findPayloadProblem } from "../../shared/triggers/payloads/problem.ts";

export interface PayloadQuestion {
  body: Uint8Array;
  maxDepth: number;
}

// The thread behind `payload-checks.ts`.
handleRequests(({ body, maxDepth }: PayloadQuestion) => findPayloadProblem(body, maxDepth));
