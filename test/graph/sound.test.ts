import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { problemOfTree } from "../../shared/graph/sound.ts";
import type { Node } from "../../shared/vocabulary.ts";

describe("a tree of steps", () => {
  const dense = (layers: number, width: number): Node[] =>
    Array.from({ length: layers * width }, (_, index): Node => {
      const layer = Math.floor(index / width);
      const before = Array.from({ length: width }, (_, at) => ({ step: `k${(layer - 1) * width + at}` }));
      return { id: `s${index}`, key: `k${index}`, ...(layer > 0 && { dependsOn: before }) };
    });

  it("has at most 20,000 dependencies, which are counted before anything follows them", () => {
    assert.equal(problemOfTree(dense(2, 141)), undefined);
    assert.equal(
      problemOfTree(dense(3, 101)),
      "The build's steps would have 20,402 dependencies (maximum is 20,000)",
    );
    const group: Node = { id: "g", label: null, steps: dense(3, 101) };
    assert.match(problemOfTree([group]) ?? "", /20,402 dependencies/);
    const used = {
      get step(): string {
        throw new Error("A dependency was followed.");
      },
    };
    const step: Node = { id: "s", dependsOn: Array(20_001).fill(used) };
    assert.match(problemOfTree([step]) ?? "", /20,001 dependencies/);
  });
});
