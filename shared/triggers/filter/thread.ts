import { handleRequests } from "../../runtime/thread.ts";
import { evaluateFilter } from "./evaluate.ts";

// The thread behind `evaluator.ts`.
handleRequests(evaluateFilter);
