import { indexOf } from "../text-search.ts";

export const maxBranchPatternsLength = 4096;

/**
 * Says if a step or webhook of these patterns is for the branch. Blanks part the patterns. `*` stands for any
 * characters, also for `/`; a leading `!` negates. One of the others must match, if there are others, and no negated
 * one. No pattern: every branch.
 * @param patterns at most `maxBranchPatternsLength` characters
 * @param branch for a build of a tag the tag
 */
export function matchesBranch(patterns: string, branch: string): boolean {
  const all = patterns.split(/\s+/).filter((pattern) => pattern !== "");
  const wanted = all.filter((pattern) => !pattern.startsWith("!"));
  const unwanted = all.filter((pattern) => pattern.startsWith("!")).map((pattern) => pattern.slice(1));
  const isMatch = (pattern: string) => matchesPattern(pattern, branch);
  return (wanted.length === 0 || wanted.some(isMatch)) && !unwanted.some(isMatch);
}

/** One pattern. Takes the first place of each piece between two `*`: nothing is tried twice. */
export function matchesPattern(pattern: string, branch: string): boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return branch === pattern;
  if (!branch.startsWith(first) || !branch.endsWith(last)) return false;

  let end = first.length;
  for (const piece of others) {
    const start = indexOf(branch, piece, end);
    if (start === -1) return false;
    end = start + piece.length;
  }
  return end <= branch.length - last.length;
}
