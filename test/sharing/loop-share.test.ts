import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openLoopShare } from "../../shared/sharing/loop-share.ts";

function workFor(ms: number): string {
  const end = performance.now() + ms;
  while (performance.now() < end);
  return "done";
}

describe("a share of the event loop", () => {
  it("runs work until the share is used up", () => {
    const within = openLoopShare(0, 1);
    const run = () => within(() => workFor(2));

    assert.deepEqual([run(), run(), run()], ["done", undefined, undefined]);
  });

  it("runs work again after a rest", () => {
    const within = openLoopShare(0.5, 1);
    const run = () => within(() => workFor(2));

    run();
    const deadline = performance.now() + 20_000;
    let again = run();
    while (again === undefined && performance.now() < deadline) again = run();
    assert.equal(again, "done");
  });

  it("saves no more than a burst", () => {
    const within = openLoopShare(0.5, 1);
    workFor(20);
    const run = () => within(() => workFor(30));

    assert.deepEqual([run(), run()], ["done", undefined]);
  });
});
