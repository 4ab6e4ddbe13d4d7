import { ConditionError } from "./expression.ts";

/** The limits of all conditions of a document. Each use subtracts. */
export interface Budget {
  /** Of conditions. To parse one takes 0.2 µs. */
  characters: number;
  /** Of patterns. To compile a part takes 10 µs. */
  parts: number;
  /** Of the slowest matches: a step is a character of a text times a part of a pattern. */
  steps: number;
}

/** Pass one to all conditions of a document: parsing and evaluating block the event loop. */
export function newBudget(): Budget {
  return { characters: 200_000, parts: 2000, steps: maxSteps };
}

/** A match may have as many. */
const maxSteps = 500_000;
/** Of the slowest matches. Most take a hundredth of that. */
const msPerStep = 0.0003;

/**
 * Runs a match, and charges the time that it takes: a long text leaves the budget to the conditions behind.
 * @param steps of the match
 * @throws ConditionError
 */
export function spendTime<T>(
  budget: Budget,
  { steps, at }: { steps: number; at: number },
  match: () => T,
): T {
  if (steps > maxSteps || budget.steps <= 0) throw new ConditionError(messages.steps, at);
  const begin = performance.now();
  const matched = match();
  budget.steps -= Math.min(steps, (performance.now() - begin) / msPerStep);
  return matched;
}

/** @throws ConditionError */
export function spend(budget: Budget, kind: "characters" | "parts", amount: number, at: number): void {
  if (amount > budget[kind]) throw new ConditionError(messages[kind], at);
  budget[kind] -= amount;
}

const messages: Record<keyof Budget, string> = {
  characters: "The conditions of the steps are too long together: shorten them",
  parts: "The regular expressions are too large together: shorten them, or repeat less in them",
  steps:
    "The regular expressions are too large for texts of this length: shorten them, or repeat less in them",
};
