import { findClass } from "../patterns.ts";
import type { Budget } from "./budget.ts";
import type { Name } from "./names.ts";
import { parseCondition } from "./parse.ts";
import { listPatterns } from "./reads.ts";

/**
 * Finds a regular expression that does not mean what its author may think. Undefined without one, and for a wrong condition.
 * @param budget of several conditions; default: one for this condition
 */
export function findWarning(text: string, names: ReadonlySet<Name>, budget?: Budget): string | undefined {
  const parsed = parseCondition(text, names, budget);
  if ("problem" in parsed) return undefined;
  const found = findClass(listPatterns(parsed.condition.expression));
  return found && `${found.sentence}. To match the text, write \\[${found.word}\\].`;
}
