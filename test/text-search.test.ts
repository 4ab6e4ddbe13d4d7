import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { contains, indexOf } from "../shared/text-search.ts";

describe("the linear search", () => {
  it("finds texts in texts as JavaScript does", () => {
    const ab = (maxLength: number) => fc.string({ unit: fc.constantFrom("a", "b"), maxLength });
    fc.assert(
      fc.property(
        ab(6),
        ab(6),
        fc.nat(400),
        fc.nat(600),
        fc.nat(900),
        (head, tail, inNeedle, inText, start) => {
          const needle = "ab".repeat(inNeedle) + tail;
          const text = head + "ab".repeat(inText) + tail;
          assert.equal(contains(text, needle), text.includes(needle));
          assert.equal(indexOf(text, needle, start), text.indexOf(needle, start));
        },
      ),
      { numRuns: 500 },
    );
  });
});
