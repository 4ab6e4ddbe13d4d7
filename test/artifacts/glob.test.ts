import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openPattern } from "../../shared/artifacts/glob.ts";

describe("the pattern of a search for artifacts", () => {
  for (const [pattern, path, isMatch] of [
    ["a.txt", "a.txt", true],
    ["a.txt", "b/a.txt", false],
    ["*.txt", "b/a.txt", true],
    ["b\\*", "b/a.txt", true],
    ["b/**/*.txt", "b/c/a.txt", true],
    ["b/**/*.txt", "b/a.txt", false],
    ["a*a", "a", false],
    ["*b*b*", "abcb", true],
    ["?", "a", false],
    ["", "", true],
  ] as const)
    it(`${pattern} ${isMatch ? "matches" : "does not match"} ${path}`, () =>
      assert.equal(openPattern(pattern)(path), isMatch));

  it("takes time that is linear in the path, whatever its texts are", () => {
    const path = "a".repeat(4096);
    const isMatch = openPattern(`*${"a".repeat(1000)}b${"a".repeat(1000)}*`);
    const before = process.threadCpuUsage(); // a busy machine takes longer
    for (let index = 0; index < 500; index++) assert.equal(isMatch(path + index), false);
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1000;
    assert.ok(ms < 400, `${ms} ms of CPU time; it was over a second`);
  });
});
