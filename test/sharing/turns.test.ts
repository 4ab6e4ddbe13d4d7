import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openTurns, type TurnBounds } from "../../shared/sharing/turns.ts";

/** Tasks run until they are ended by name. */
function open(bounds: TurnBounds) {
  const turns = openTurns(bounds, (bound) => new Error(`refused: ${bound}`));
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    requireRoom: turns.requireRoom.bind(turns),
    run: (owner: string, name: string, signal?: AbortSignal) =>
      turns
        .take(
          owner,
          () => {
            started.push(name);
            return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
          },
          signal,
        )
        .catch((error: Error) => (error.name === "Error" ? error.message : error.name)),
    async end(name: string) {
      ends.get(name)?.();
      await nextTurn();
    },
  };
}

describe("turns", () => {
  it("go round the owners, and each owner's tasks run in order", async () => {
    const { run, end, started } = open({ maxRunning: 1 });
    for (const name of ["a1", "a2", "a3", "b1", "c1", "b2"]) void run(name[0] as string, name);
    for (const name of ["a1", "b1", "c1", "a2", "b2", "a3"]) {
      assert.equal(started.at(-1), name);
      await end(name);
    }
    assert.equal(started.length, 6);
  });

  it("run as many at once as the bounds of all and of an owner allow", async () => {
    const { run, end, started } = open({ maxRunning: 3, maxRunningPerOwner: 2 });
    for (const name of ["a1", "a2", "a3", "b1", "b2"]) void run(name[0] as string, name);
    assert.deepEqual(started, ["a1", "a2", "b1"]);

    await end("b1");
    assert.deepEqual(started.slice(3), ["b2"]);
    await end("a2");
    assert.deepEqual(started.slice(4), ["a3"]);
  });

  it("are refused beyond the owner's bound, and beyond that of all", async () => {
    const { run, end, started } = open({ maxRunning: 1, maxWaitingPerOwner: 2, maxWaiting: 3 });
    const first = ["a1", "a2", "a3"].map((name) => run("a", name));

    assert.equal(await run("a", "a4"), "refused: owner");
    void run("b", "b1");
    assert.equal(await run("b", "b2"), "refused: all");
    assert.equal(await run("c", "c1"), "refused: all");

    for (const name of ["a1", "b1", "a2", "a3"]) await end(name);
    assert.deepEqual(await Promise.all(first), ["a1", "a2", "a3"]);
    void run("c", "c2");
    assert.equal(started.at(-1), "c2");
  });

  it("tell before that a task would be refused", () => {
    const { run, requireRoom } = open({ maxRunning: 1, maxWaitingPerOwner: 1, maxWaiting: 2 });
    requireRoom("a");
    void run("a", "a1");
    requireRoom("a");
    void run("a", "a2");
    assert.throws(() => requireRoom("a"), { message: "refused: owner" });
    requireRoom("b");
    void run("b", "b1");
    assert.throws(() => requireRoom("c"), { message: "refused: all" });
  });

  it("pass over a task whose signal aborted, and free its place", async () => {
    const { run, end, started } = open({ maxRunning: 1, maxWaitingPerOwner: 1 });
    void run("a", "a1");
    const gone = new AbortController();
    const abandoned = run("a", "a2", gone.signal);

    gone.abort();

    assert.equal(await abandoned, "AbortError");
    void run("a", "a3");
    await end("a1");
    assert.deepEqual(started, ["a1", "a3"]);
    assert.equal(await run("a", "a4", gone.signal), "AbortError");
  });

  it("are for others while an owner rests", async ({ mock }) => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const { run, end, started } = open({ maxRunning: 1, maxRunningPerOwner: 1, restFactor: 1 });
    for (const name of ["a1", "a2", "b1"]) void run(name[0] as string, name);

    await end("a1");
    await end("b1");
    assert.deepEqual(started, ["a1", "b1"]);

    mock.timers.tick(60_000);
    await nextTurn();
    assert.deepEqual(started, ["a1", "b1", "a2"]);
  });

  it("come after 5 seconds even if the process was stopped during a task", async ({ mock }) => {
    mock.timers.enable({ apis: ["setTimeout"] });
    let now = 0;
    mock.method(performance, "now", () => now);
    const { run, end, started } = open({ maxRunningPerOwner: 1, restFactor: 3 });
    for (const name of ["a1", "a2"]) void run("a", name);

    now = 60_000;
    await end("a1");
    mock.timers.tick(4999);
    await nextTurn();
    assert.deepEqual(started, ["a1"]);
    mock.timers.tick(1);
    await nextTurn();
    assert.deepEqual(started, ["a1", "a2"]);
  });

  it("go on after a task failed", async () => {
    const turns = openTurns({ maxRunning: 1 });
    const failing = turns.take("a", () => Promise.reject(new Error("broken")));
    const next = turns.take("a", async () => "done");
    await assert.rejects(failing, /broken/);
    assert.equal(await next, "done");
  });
});
