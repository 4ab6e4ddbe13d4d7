import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { differenceOf, differenceOfNames } from "../../shared/members/difference.ts";

const lines = (...texts: string[]) => texts.join("\n");

describe("the difference of two texts", () => {
  it("is none if they are the same", () => {
    assert.equal(differenceOf("a\nb", "a\nb"), undefined);
  });

  it("has the changed lines with two around them, and marks those that are left out", () => {
    const before = lines("1", "2", "3", "4", "5", "6", "7", "8", "9");
    const after = lines("1", "2", "3", "four", "5", "6", "7", "8", "9", "10");
    const expected = lines("…", " 2", " 3", "-4", "+four", " 5", " 6", "…", " 8", " 9", "+10");
    assert.equal(differenceOf(before, after)?.replace(/^…\n/, ""), expected.replace(/^…\n/, ""));
  });

  it("keeps lines that stay between changed ones", () => {
    assert.equal(differenceOf("a\nb\nc", "b\nc\nd"), lines("-a", " b", " c", "+d"));
    assert.equal(differenceOf("", "a"), lines("-", "+a"));
  });

  it("stays short, however long the texts are, and makes no table of 400 million cells", ({ mock }) => {
    const text = (mark: string) => `${mark}\n`.repeat(20_000);
    const table = mock.method(globalThis, "Uint32Array");
    const difference = differenceOf(text("a"), text("b")) ?? "";
    assert.equal(table.mock.callCount(), 0);
    assert.ok(difference.length < 9000 && difference.endsWith("\n…"), `${difference.length}`);
    assert.ok((differenceOf("a", "b".repeat(100_000)) ?? "").length < 1000);
  });

  it("is right: applied to the one text, it gives the other", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    const text = () => Array.from({ length: random(7) }, () => "abc"[random(3)] ?? "a");
    for (let times = 0; times < 500; times++) {
      const [before, after] = [text(), text()];
      const difference = differenceOf(lines(...before), lines(...after));
      if (difference === undefined || difference.includes("…")) continue;
      const shown = difference.split("\n");
      const side = (mark: string) =>
        shown.filter((line) => !line.startsWith(mark)).map((line) => line.slice(1));
      const without = [before, after].map((each) => (each.length === 0 ? [""] : each));
      assert.ok(`${lines(...(without[0] ?? []))}`.includes(lines(...side("+"))), difference);
      assert.ok(`${lines(...(without[1] ?? []))}`.includes(lines(...side("-"))), difference);
    }
  });
});

describe("the difference of variables", () => {
  it("has their names, and no values", () => {
    const before = { GONE: "s3cret", SAME: "s3cret", OTHER: "s3cret" };
    const after = { SAME: "s3cret", OTHER: "t0ken", ADDED: "t0ken" };
    assert.equal(differenceOfNames(before, after), lines("+ADDED", "-GONE", "~OTHER"));
    assert.equal(differenceOfNames(before, before), undefined);
  });
});
