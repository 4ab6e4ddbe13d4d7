import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FilterInput } from "../../../shared/triggers/filter/evaluate.ts";
import { openFilterLanes } from "../../../shared/triggers/filter/lanes.ts";

const input = {} as FilterInput;

/** Returns the thread of each evaluation. The thread of quick filters is opened first. */
function open() {
  let opened = 0;
  let ms = 1;
  const taken: string[] = [];
  const lanes = openFilterLanes(() => {
    const lane = opened++ === 0 ? "quick" : "slow";
    return {
      async evaluateFirst() {
        taken.push(lane);
        return [{ outcome: { verdict: true }, ms, isLate: false }];
      },
      close: async () => {},
    };
  });
  return {
    async evaluate(organizationId: string, takes: { ms: number }): Promise<string> {
      ({ ms } = takes);
      await lanes.take(organizationId, (evaluate) => evaluate([input]));
      return taken.at(-1) ?? "";
    },
  };
}

describe("lanes of filters", () => {
  it("take an organization out of the quick one after a single evaluation of 100 ms", async () => {
    const { evaluate } = open();

    assert.equal(await evaluate("a", { ms: 100 }), "quick");
    assert.equal(await evaluate("a", { ms: 1 }), "slow");
    assert.equal(await evaluate("b", { ms: 1 }), "quick");
  });

  it("leave an organization in the quick one that once takes 50 ms", async () => {
    const { evaluate } = open();

    await evaluate("a", { ms: 50 });

    assert.equal(await evaluate("a", { ms: 1 }), "quick");
  });

  it("let an organization back after thirty quick evaluations", async () => {
    const { evaluate } = open();
    await evaluate("a", { ms: 1000 });

    const lanes = [];
    for (let count = 0; count <= 30; count++) lanes.push(await evaluate("a", { ms: 1 }));

    assert.deepEqual(new Set(lanes.slice(0, 30)), new Set(["slow"]));
    assert.equal(lanes[30], "quick");
  });
});
