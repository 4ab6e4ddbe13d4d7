import { findClass } from "../patterns.ts";
import type { Name } from "./names.ts";
import { parseCondition } from "./parse.ts";
import { listPatterns } from "./reads.ts";

/** Finds a regular expression that does not mean what its author may think. Undefined without one, and for a wrong condition. */
export function findWarning(text: string, names: ReadonlySet<Name>): string | undefined {
  const parsed = parseCondition(text, names);
  if ("problem" in parsed) return undefined;
  const found = findClass(listPatterns(parsed.condition.expression));
  return found && `${found.sentence}. To match the text, write \\[${found.word}\\].`;
}
