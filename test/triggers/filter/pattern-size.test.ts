import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compileFilter } from "../../../shared/triggers/filter/compile.ts";
import { patternSize } from "../../../shared/triggers/filter/pattern-size.ts";

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

  it("keeps a filter from compiling for long", () => {
    for (const pattern of ["a{0,1000}".repeat(20), ".{1000}".repeat(6), "(a{30}){200}"]) {
      const compiled = compileFilter(`webhook.payload.a.matches("${pattern}")`);
      assert.ok("problem" in compiled, pattern);
      assert.match(compiled.problem, /^The pattern repeats too much \(maximum is 5,000 parts\)/);
    }
  });
});
