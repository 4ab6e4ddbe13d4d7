import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openRunsByKey } from "../../shared/sharing/runs-by-key.ts";

describe("runs by key", () => {
  const failures: unknown[] = [];
  const onFailure = (_: string, error: unknown) => failures.push(error);

  it("repeat a run once, however often it is asked for meanwhile, and run other keys beside it", async () => {
    const events: string[] = [];
    const first = Promise.withResolvers<void>();
    const runs = openRunsByKey(async (key) => {
      events.push(`${key} starts`);
      if (key === "a") await first.promise;
      events.push(`${key} ends`);
    }, onFailure);

    for (const key of ["a", "b", "a", "a"]) runs.add(key);
    first.resolve();
    await runs.idle();

    assert.deepEqual(events, ["a starts", "b starts", "b ends", "a ends", "a starts", "a ends"]);
  });

  it("report a failed run, and run its key again", async () => {
    const failure = new Error("failed");
    let started = 0;
    const runs = openRunsByKey(async () => {
      started++;
      throw failure;
    }, onFailure);

    runs.add("a");
    await runs.idle();
    runs.add("a");
    await runs.idle();

    assert.equal(started, 2);
    assert.deepEqual(failures.splice(0), [failure, failure]);
  });

  it("are aborted by the close, which reports no failure and lets nothing start", async () => {
    let started = 0;
    const runs = openRunsByKey((_, signal) => {
      started++;
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    }, onFailure);

    runs.add("a");
    runs.add("a");
    await runs.close();
    runs.add("b");
    await runs.idle();

    assert.equal(started, 1);
    assert.deepEqual(failures, []);
  });
});
