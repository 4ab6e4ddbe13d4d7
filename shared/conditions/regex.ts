import { findPatternProblem, matchesOnce, patternSize } from "../patterns.ts";
import { type Budget, spend, spendTime } from "./budget.ts";
import { ConditionError } from "./expression.ts";

/** Of one regular expression, in parts. */
const maxPatternSize = 500;
const onlyFlag = "The only flag of regular expressions is i";
const notAvailable = "so that every match takes linear time";

/** Groups that set flags. Escapes and classes are skipped. */
const flagGroup = /\\.|\[(?:\\.|[^\]\\])*\]|\(\?([A-Za-z-]+)[:)]/gs;

/**
 * Checks a regular expression, and makes one pattern of it and its flags. `\/` needs no change.
 * @param at the index of its first slash
 */
export function toPattern(
  source: string,
  flags: string,
  { at, budget }: { at: number; budget: Budget },
): string {
  if (flags !== "" && flags !== "i")
    throw new ConditionError(`${onlyFlag}. Write \\/ for a slash inside one`, at + source.length + 2);
  for (const { 1: inner, index } of source.matchAll(flagGroup))
    if (inner !== undefined && !/^-?i$/.test(inner)) throw new ConditionError(onlyFlag, at + 1 + index);

  const pattern = flags === "i" ? `(?i)${source}` : source;
  spend(budget, "parts", patternSize(pattern), at);
  const problem = findPatternProblem(pattern, maxPatternSize);
  if (problem)
    throw new ConditionError(describe(problem), at + 1 + indexOfFragment(source, problem.fragment));
  return pattern;
}

function describe({ sentence, fragment = "" }: { sentence: string; fragment?: string }): string {
  if (/^\(\?<?[=!]/.test(fragment)) return `Regular expressions have no look-around, ${notAvailable}`;
  if (/^\\[1-9k]/.test(fragment)) return `Regular expressions have no back-references, ${notAvailable}`;
  return sentence.replace("The pattern", "The regular expression");
}

function indexOfFragment(source: string, fragment: string | undefined): number {
  return Math.max(0, fragment ? source.indexOf(fragment) : 0);
}

/** Takes time linear in the text, which its budget bounds. */
export function matchesPattern(
  text: string,
  pattern: string,
  { at, budget }: { at: number; budget: Budget },
): boolean {
  const steps = text.length * patternSize(pattern);
  return spendTime(budget, { steps, at }, () => matchesOnce(text, pattern));
}
