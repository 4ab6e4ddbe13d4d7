import { answerQuestions } from "../../shared/thread.ts";
import { findPayloadProblem } from "./payload.ts";

export interface PayloadQuestion {
  body: Uint8Array;
  maxDepth: number;
}

// The thread behind `payload-checks.ts`.
answerQuestions(({ body, maxDepth }: PayloadQuestion) => findPayloadProblem(body, maxDepth));
