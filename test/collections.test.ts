import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { listOf, record } from "../shared/collections.ts";
import { validationFailed } from "../shared/refusal.ts";

/** Counts the entries that a schema looks at. */
function counting() {
  const looks = { entries: 0 };
  const entry = z.string({
    error: () => {
      looks.entries++;
      return "must be text";
    },
  });
  return { looks, entry };
}

describe("a list or a map of many wrong entries", () => {
  it("is read until there are more problems than an answer names", () => {
    const { looks, entry } = counting();
    const wrong = Array(10_000).fill(0);

    const list = listOf(entry, { error: "must be a list" }).safeParse(wrong);
    const map = record("Map", entry, { error: "must be a map" }).safeParse({ ...wrong });

    assert.ok(list.error && map.error);
    assert.equal(looks.entries, 42);
    assert.equal(list.error.issues.at(-1)?.message, "and more");
  });

  it("is refused unread if it is too long", () => {
    const { looks, entry } = counting();
    const parsed = listOf(entry, { error: "must be a list", max: 5, tooMany: "is too long" }).safeParse(
      Array(10_000).fill(0),
    );

    assert.equal(parsed.error?.issues[0]?.message, "is too long");
    assert.equal(looks.entries, 0);
  });
});

describe("a refusal", () => {
  it("names 20 problems, and says how many more there are", () => {
    const problems = Array.from({ length: 33 }, (_, index) => ({ field: "", message: `problem ${index}` }));
    const { message, problems: named } = validationFailed(...problems);
    assert.match(message, /problem 19, and 13 more$/);
    assert.equal(named.length, 21);
  });

  it("is short, whatever it repeats of the request", () => {
    const problems = Array.from({ length: 33 }, () => ({ field: "", message: "é".repeat(10_000) }));
    assert.ok(Buffer.byteLength(validationFailed(...problems).message) < 16_384);
  });
});
