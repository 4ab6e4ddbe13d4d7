import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openTurnBudget } from "../../shared/sharing/loop-turns.ts";

function workFor(ms: number): string {
  const end = performance.now() + ms;
  while (performance.now() < end);
  return "done";
}

describe("the budget of a turn of the event loop", () => {
  it("runs work until it has taken its time, and again in the next turn", async () => {
    const within = openTurnBudget(1);
    const run = () => within(() => workFor(2));

    assert.deepEqual([run(), run(), run()], ["done", undefined, undefined]);
    await nextTurn();
    assert.deepEqual([run(), run()], ["done", undefined]);
  });

  it("runs all work of a turn that has time for it", async () => {
    const within = openTurnBudget(60_000);
    const run = async () => within(() => workFor(1));

    assert.deepEqual([await run(), await run()], ["done", "done"]);
  });
});
