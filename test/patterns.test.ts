import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findPatternProblem, patternSize } from "../shared/patterns.ts";

const sizes: [pattern: string, size: number][] = [
  ["abc", 3],
  ["a{3}", 3],
  ["(ab){10}c", 31],
  ["((a{10}b){10}){10}", 1210],
  ["[abc]{5}", 5],
  ["\\x{2028}a", 2],
  ["\\p{Greek}{4}", 4],
  ["(\\pL|\\pN){900}\\pN", 3601],
  ["a{2,}", 3],
  ["a{0,3}", 6],
];

describe("the size of a pattern", () => {
  for (const [pattern, size] of sizes)
    it(`is ${size} for ${pattern}`, () => {
      assert.equal(patternSize(pattern), size);
    });

  it("is not too small for brackets that close nothing", () => {
    for (const pattern of ["(aaa[])]){1000}", "[](]{1000}", "a)b{1000}", "(?:a[(]b){1000}"])
      assert.ok(patternSize(pattern) >= 1000, pattern);
  });

  it("keeps a short pattern from compiling for long", () => {
    for (const pattern of ["a{0,1000}".repeat(20), ".{1000}".repeat(6), "(a{30}){200}"])
      assert.deepEqual(findPatternProblem(pattern, 5000), {
        sentence: "The pattern repeats too much (maximum is 5,000 parts)",
      });
  });
});

describe("the problem of a pattern", () => {
  it("names the wrong part", () => {
    assert.deepEqual(findPatternProblem("ab(?=c)", 5000), {
      sentence: "The pattern cannot be used: invalid or unsupported Perl syntax",
      fragment: "(?=",
    });
  });

  it("is missing if there is none", () => {
    assert.equal(findPatternProblem("^(a|b)*$", 5000), undefined);
  });
});
