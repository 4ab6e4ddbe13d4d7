import { parentPort } from "node:worker_threads";
import { findPayloadProblem } from "../../shared/triggers/payload-problem.ts";

/** The thread behind `payload-checks.ts`: one question at a time, answered in order. */
export interface Question {
  body: Uint8Array;
  maxDepth: number;
}

parentPort?.on("message", ({ body, maxDepth }: Question) => {
  parentPort?.postMessage(findPayloadProblem(body, maxDepth));
});
