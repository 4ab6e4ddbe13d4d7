import { findLetterClass } from "../patterns.ts";
import type { Budget } from "./budget.ts";
import type { Name } from "./names.ts";
import { parseCondition } from "./parse.ts";
import { listPatterns } from "./reads.ts";

/**
 * Warns of a regular expression that may not mean what its author thinks. Undefined also for a wrong condition.
 * @param budget of several conditions; default: one for this condition
 */
export function findConditionWarning(
  text: string,
  names: ReadonlySet<Name>,
  budget?: Budget,
): string | undefined {
  const parsed = parseCondition(text, names, budget);
  if ("problem" in parsed) return undefined;
  const found = findLetterClass(listPatterns(parsed.condition.expression));
  return found && `${found.sentence}. To match the text, write \\[${found.word}\\].`;
}
