import { ConditionError } from "./expression.ts";

/** The limits of all conditions of a document. Each use subtracts. */
export interface Budget {
  /** Of conditions. To parse one takes 0.2 µs. */
  characters: number;
  /** Of patterns. To compile a part takes 10 µs. */
  parts: number;
  /** Characters of a text times parts of a pattern. One takes up to 0.3 µs, and usually a hundredth of that. */
  steps: number;
}

/** Pass one to all conditions of a document: evaluating blocks the event loop. */
export function newBudget(): Budget {
  return { characters: 200_000, parts: 10_000, steps: 2_000_000 };
}

/** @throws ConditionError */
export function spend(budget: Budget, kind: keyof Budget, amount: number, at: number): void {
  if (amount > budget[kind]) throw new ConditionError(messages[kind], at);
  budget[kind] -= amount;
}

const messages: Record<keyof Budget, string> = {
  characters: "The conditions of the steps are too long together: shorten them",
  parts: "The regular expressions are too large together: shorten them, or repeat less in them",
  steps:
    "The regular expressions are too large for texts of this length: shorten them, or repeat less in them",
};
