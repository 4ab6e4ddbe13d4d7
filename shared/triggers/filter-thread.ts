import { answerQuestions } from "../thread.ts";
import { evaluateFilter } from "./filter-evaluation.ts";

// The thread behind `filters.ts`.
answerQuestions(evaluateFilter);
