import type { Name } from "./names.ts";
import { parseCondition } from "./parse.ts";
import { listPatterns } from "./reads.ts";

const letters = new Intl.ListFormat("en-GB");

/** Finds a regular expression that does not mean what its author may think. Undefined without one, and for a wrong condition. */
export function findWarning(text: string, names: ReadonlySet<Name>): string | undefined {
  const parsed = parseCondition(text, names);
  if ("problem" in parsed) return undefined;
  return listPatterns(parsed.condition.expression).map(describeClass).find(Boolean);
}

/** `[skip]` is a class, which matches one letter. Classes with ranges, and those that are repeated, are meant so. */
function describeClass(pattern: string): string | undefined {
  const [, word] = /^(?:\(\?i\))?\[([a-z]{2,})\]$/i.exec(pattern) ?? [];
  if (word === undefined) return undefined;
  return `[${word}] matches one of the letters ${letters.format(new Set(word))}. To match the text, write \\[${word}\\].`;
}
