import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { matchesBranch, maxBranchPatternsLength } from "../../shared/conditions/branches.ts";
import { repeat } from "../helpers/run-mode.ts";

const rows: [patterns: string, matching: string[], others: string[]][] = [
  ["", ["main", "a/b", ""], []],
  [" \n\t", ["main"], []],
  ["main", ["main"], ["main2", "xmain", "Main", "origin/main", "", "main "]],
  ["main stable", ["main", "stable"], ["main stable", "mainstable"]],
  [" main\n stable\t", ["main", "stable"], [""]],
  ["*", ["main", "a/b", ""], []],
  ["**", ["main", "a/b", ""], []],
  ["feature/*", ["feature/a", "feature/a/b", "feature/"], ["feature", "xfeature/a", "Feature/a"]],
  ["feature/**", ["feature/a", "feature/a/b", "feature/"], ["feature"]],
  ["*/main", ["a/main", "a/b/main", "/main"], ["main", "a/main2"]],
  ["*fix*", ["fix", "a-fix", "fix-a", "a/fix/b"], ["fi-x", ""]],
  ["a*a", ["aa", "aba"], ["a", "ab"]],
  ["ab*ba", ["abba", "ab-ba"], ["aba"]],
  ["*a*a*", ["aa", "xaxax"], ["a", "xax"]],
  ["*ab*ab", ["abab", "xab-ab"], ["ab", "abb"]],
  ["v*.*.*", ["v1.2.3", "v1.2.3.4", "v.."], ["v1.2", "1.2.3"]],
  ["!main", ["stable", "xmain", ""], ["main"]],
  ["!main !stable", ["a"], ["main", "stable"]],
  ["!feature/*", ["main"], ["feature/a"]],
  ["feature/* !feature/secret*", ["feature/a"], ["feature/secret", "feature/secret/a", "main"]],
  ["!feature/secret* feature/*", ["feature/a"], ["feature/secret", "main"]],
  ["* !*", [], ["main", ""]],
  ["main !main", [], ["main", "a"]],
  ["!", ["main"], [""]],
  ["!!main", ["main"], ["!main"]],
  ["a!b", ["a!b"], ["ab"]],
  ["! main", ["main"], ["stable"]],
  // Nothing else is special.
  ["release-[0-9]+", ["release-[0-9]+"], ["release-1"]],
  ["a?c", ["a?c"], ["abc", "ac"]],
  ["a.c", ["a.c"], ["abc"]],
  ["{a,b}", ["{a,b}"], ["a", "b"]],
  ["^main$", ["^main$"], ["main"]],
  ["main,stable", ["main,stable"], ["main"]],
  ["\\*", ["\\", "\\a"], ["*", "a"]],
  ["/main/", ["/main/"], ["main"]],
  ["fé*", ["fé", "féa"], ["fe", "FÉ"]],
  ["v1.0", ["v1.0"], ["v1.0.1"]],
];

describe("branch patterns", () => {
  for (const [patterns, matching, others] of rows) {
    for (const branch of matching)
      it(`match: ${JSON.stringify(patterns)}, ${JSON.stringify(branch)}`, () =>
        assert.equal(matchesBranch(patterns, branch), true));
    for (const branch of others)
      it(`do not match: ${JSON.stringify(patterns)}, ${JSON.stringify(branch)}`, () =>
        assert.equal(matchesBranch(patterns, branch), false));
  }

  it("match as the obvious rule does", () => {
    const branches = fc.string({ unit: fc.constantFrom("a", "b", "/", "*", "!"), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*", "*", "/", "!"), maxLength: 6 });
    const patterns = fc.array(pattern, { maxLength: 4 }).map((each) => each.join(" "));
    let matched = 0;
    fc.assert(
      fc.property(patterns, branches, (text, branch) => {
        const expected = obviously(text, branch);
        if (expected) matched++;
        assert.equal(matchesBranch(text, branch), expected);
      }),
      { numRuns: repeat(5000, 50_000) },
    );
    assert.ok(matched > 500);
  });

  it("take no more steps for many stars", () => {
    const branch = `${"a".repeat(1000)}b`;
    for (const pattern of ["a*", "*a", "a*a", "*aa*", "*ab*", `*${"a".repeat(400)}c*`]) {
      const long = pattern.repeat(Math.floor(maxBranchPatternsLength / pattern.length));
      const spread = `${pattern} `.repeat(Math.floor(maxBranchPatternsLength / (pattern.length + 1)));
      assert.equal(matchesBranch(`${long}x`, branch), false);
      assert.equal(typeof matchesBranch(spread, branch), "boolean");
    }
  });
});

/** Tries every length for each star. */
function obviously(patterns: string, branch: string): boolean {
  const all = patterns.split(" ").filter(Boolean);
  const isMatch = (pattern: string, text: string): boolean => {
    if (pattern === "") return text === "";
    if (pattern[0] !== "*") return text[0] === pattern[0] && isMatch(pattern.slice(1), text.slice(1));
    return Array.from({ length: text.length + 1 }).some((_, length) =>
      isMatch(pattern.slice(1), text.slice(length)),
    );
  };
  let isWanted = !all.some((pattern) => pattern[0] !== "!");
  for (const pattern of all) {
    if (pattern[0] === "!" && isMatch(pattern.slice(1), branch)) return false;
    if (pattern[0] !== "!" && isMatch(pattern, branch)) isWanted = true;
  }
  return isWanted;
}
