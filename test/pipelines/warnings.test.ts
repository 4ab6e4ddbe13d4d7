import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { countWarnings, firstWarnings } from "../../shared/pipelines/warnings.ts";

describe("the warnings of a pipeline", () => {
  it("are the first 100 of a list, which says how many others there are", () => {
    const warnings = Array.from({ length: 130 }, (_, index) => ({ step: `s${index}`, member: "notify" }));
    const first = firstWarnings(warnings);
    assert.equal(first.length, 100);
    assert.deepEqual(first.at(-1), { step: "s99", member: "notify", more: 30 });
    assert.deepEqual(first.slice(0, 99), warnings.slice(0, 99));

    const later = firstWarnings([...first, ...warnings.slice(0, 5)]);
    assert.deepEqual(later.at(-1), { step: "s99", member: "notify", more: 35 });
    assert.equal(countWarnings(later), 135);
    assert.deepEqual(firstWarnings([]), []);
  });
});
