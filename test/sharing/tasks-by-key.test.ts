import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openTasksByKey } from "../../shared/sharing/tasks.ts";

describe("tasks by key", () => {
  const failures: unknown[] = [];
  const onFailure = (_: string, error: unknown) => failures.push(error);

  it("repeat a task once, however often it is asked for meanwhile, and run other keys beside it", async () => {
    const events: string[] = [];
    const first = Promise.withResolvers<void>();
    const tasks = openTasksByKey(async (key) => {
      events.push(`${key} starts`);
      if (key === "a") await first.promise;
      events.push(`${key} ends`);
    }, onFailure);

    for (const key of ["a", "b", "a", "a"]) tasks.add(key);
    first.resolve();
    await tasks.idle();

    assert.deepEqual(events, ["a starts", "b starts", "b ends", "a ends", "a starts", "a ends"]);
  });

  it("report a failed task, and run its key again", async () => {
    const failure = new Error("failed");
    let started = 0;
    const tasks = openTasksByKey(async () => {
      started++;
      throw failure;
    }, onFailure);

    tasks.add("a");
    await tasks.idle();
    tasks.add("a");
    await tasks.idle();

    assert.equal(started, 2);
    assert.deepEqual(failures.splice(0), [failure, failure]);
  });

  it("are aborted by the close, which reports no failure and lets nothing start", async () => {
    let started = 0;
    const tasks = openTasksByKey((_, signal) => {
      started++;
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    }, onFailure);

    tasks.add("a");
    tasks.add("a");
    await tasks.close();
    tasks.add("b");
    await tasks.idle();

    assert.equal(started, 1);
    assert.deepEqual(failures, []);
  });
});
