import assert from "node:assert/strict";
import { after, afterEach, beforeEach, describe, it, mock } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Refusal } from "../../shared/refusal.ts";
import { ownerOfNetwork } from "../../shared/sharing/owner.ts";
import { seeOwner } from "../../shared/sharing/presence.ts";
import { countWait } from "../../shared/sharing/present-turn.ts";
import { openTurns, type TurnBounds } from "../../shared/sharing/turns.ts";

/** Ends what a test left running: its owners would stay present. */
const endAll = new Set<() => Promise<void>>();

const none = { max: 1, maxBesideOthers: 1, restFactor: 0, sliceMs: 1000 };

/** Tasks run until they are ended by name. The first letter of a name is its owner. */
function open(bounds: Partial<TurnBounds> = {}) {
  const turns = openTurns({ ...none, ...bounds });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string, signal?: AbortSignal, owner = name[0] as string) =>
    turns
      .take(
        owner,
        () => {
          started.push(name);
          return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
        },
        signal,
      )
      .catch((error: Refusal) => error.status ?? error.name);
  const end = async (...names: string[]) => {
    for (const name of names) {
      ends.get(name)?.();
      await nextTurn();
    }
  };
  endAll.add(async () => {
    for (const name of started) await end(name);
  });
  return { started, run, end };
}

describe("turns", () => {
  /** In milliseconds. Later in each test, so that nobody of the last one is present. */
  let now = 1_000_000_000;
  const pass = async (ms: number) => {
    now += ms;
    mock.timers.tick(ms);
    await nextTurn();
  };
  beforeEach(() => {
    now += 1_000_000;
    mock.timers.enable({ apis: ["setTimeout"] });
    mock.method(performance, "now", () => now);
  });
  afterEach(async () => {
    for (const end of endAll) {
      now += 1000;
      await end();
    }
    endAll.clear();
    mock.timers.reset();
    mock.restoreAll();
  });
  // Else the owners of the last test were there for days, to whatever runs in this process after it.
  after(() => {
    for (const owner of ["x", "y"]) seeOwner(owner);
  });

  it("go round the owners, and each owner's tasks run in order", async () => {
    const { run, end, started } = open();
    for (const name of ["a1", "a2", "a3", "b1", "c1", "b2"]) void run(name);
    for (const name of ["a1", "b1", "c1", "a2", "b2", "a3"]) {
      assert.equal(started.at(-1), name);
      await end(name);
    }
    assert.equal(started.length, 6);
  });

  it("let an owner who is alone have all slots but one, which a newcomer finds free", async () => {
    const { run, end, started } = open({ max: 4 });
    for (const name of ["a1", "a2", "a3", "a4", "a5"]) void run(name);
    assert.deepEqual(started, ["a1", "a2", "a3"]);

    void run("b1");
    assert.deepEqual(started.slice(3), ["b1"]);
    await end("a1", "a2", "a3");
    assert.deepEqual(started.slice(4), ["a4"]);
  });

  it("give an owner all slots again 50 ms after the last of the others", async () => {
    const { run, end, started } = open({ max: 4 });
    void run("b1");
    for (const name of ["a1", "a2", "a3"]) void run(name);
    await end("b1");
    assert.deepEqual(started, ["b1", "a1"]);

    await pass(49);
    await end("a1");
    assert.deepEqual(started.slice(2), ["a2"]);
    await pass(50);
    for (const name of ["a4", "a5"]) void run(name);
    await end("a2");
    assert.deepEqual(started.slice(3), ["a3", "a4", "a5"]);
  });

  it("start what waits once the others have gone, though no task of the owner ends", async () => {
    const { run, end, started } = open({ max: 4 });
    void run("b1");
    for (const name of ["a1", "a2"]) void run(name);
    await end("b1");
    assert.deepEqual(started, ["b1", "a1"]);

    await pass(50);
    assert.deepEqual(started.slice(2), ["a2"]);
  });

  it("are 503 while as many wait as may, but for an owner of whom nothing waits", async () => {
    const { run, end, started } = open({ maxWaitingOfOwner: 2, maxWaiting: 3 });
    const first = ["a1", "a2", "a3"].map((name) => run(name));

    assert.equal(await run("a4"), 503);
    void run("b1");
    void run("c1");
    assert.deepEqual([await run("b2"), await run("c2")], [503, 503]);

    await end("a1", "b1", "c1", "a2", "a3");
    assert.deepEqual(await Promise.all(first), ["a1", "a2", "a3"]);
    void run("c2");
    assert.equal(started.at(-1), "c2");
  });

  it("pass over a task whose signal aborted, and free its slot", async () => {
    const { run, end, started } = open({ maxWaitingOfOwner: 1 });
    void run("a1");
    const gone = new AbortController();
    const abandoned = run("a2", gone.signal);

    gone.abort();

    assert.equal(await abandoned, "AbortError");
    void run("a3");
    await end("a1");
    assert.deepEqual(started, ["a1", "a3"]);
    assert.equal(await run("a4", gone.signal), "AbortError");
  });

  it("come without a rest for an owner who is alone", async () => {
    const { run, end, started } = open({ restFactor: 3 });
    for (const name of ["a1", "a2"]) void run(name);
    await pass(20);
    await end("a1");
    assert.deepEqual(started, ["a1", "a2"]);
  });

  it("come after a rest beside others, which they use", async () => {
    const { run, end, started } = open({ restFactor: 3 });
    for (const name of ["a1", "a2", "b1"]) void run(name);
    await pass(20);
    await end("a1");
    assert.deepEqual(started, ["a1", "b1"]);
    await end("b1");
    assert.deepEqual(started, ["a1", "b1"]);

    for (let rested = 0; rested < 60; rested++) {
      assert.deepEqual(started, ["a1", "b1"]);
      seeOwner("b");
      await pass(1);
    }
    assert.deepEqual(started, ["a1", "b1", "a2"]);
  });

  it("come after a rest for the time that a task used, not for that it waited", async () => {
    const turns = openTurns({ ...none, restFactor: 3, sliceMs: 10 });
    const started: string[] = [];
    const waiting = turns.take("a", async () => {
      now += 500;
      countWait(498);
    });
    seeOwner("b");
    await waiting;
    const next = turns.take("a", async () => void started.push("a2"));
    for (let rested = 0; rested < 6; rested++) {
      assert.deepEqual(started, []);
      seeOwner("b");
      await pass(1);
    }
    assert.deepEqual(started, ["a2"]);
    await next;
  });

  it("come without a rest inside a turn on another resource, whose slot others wait for", async () => {
    const outer = openTurns({ ...none, restFactor: 3 });
    const { run, end, started } = open({ restFactor: 3 });
    void run("a1");
    seeOwner("b");
    now += 100;
    seeOwner("b");
    await end("a1");
    void run("a2");
    const inside = outer.take("a", () => run("a3"));
    const other = outer.take("b", () => run("b1"));
    assert.deepEqual(started, ["a1", "a3"]);

    await end("a3");
    assert.deepEqual(started, ["a1", "a3", "b1"]);
    await end("b1");
    await Promise.all([inside, other]);
    for (let rested = 0; rested < 300; rested++) {
      assert.deepEqual(started, ["a1", "a3", "b1"]);
      seeOwner("b");
      await pass(1);
    }
    assert.deepEqual(started, ["a1", "a3", "b1", "a2"]);
  });

  it("come after no rest for the time in which the task waited inside for others", async () => {
    const outer = openTurns({ ...none, restFactor: 3 });
    const { run, end } = open();
    void run("b1");
    const started: string[] = [];
    const inside = outer.take("a", () => run("a1"));
    await pass(500);
    await end("b1");
    await pass(2);
    await end("a1");
    await inside;
    const next = outer.take("a", async () => void started.push("a2"));
    for (let rested = 0; rested < 6; rested++) {
      assert.deepEqual(started, []);
      seeOwner("b");
      await pass(1);
    }
    assert.deepEqual(started, ["a2"]);
    await next;
  });

  it("come once the others are gone", async () => {
    const { run, end, started } = open({ restFactor: 100 });
    seeOwner("b");
    for (const name of ["a1", "a2"]) void run(name);
    await pass(40);
    await end("a1");
    await pass(49);
    assert.deepEqual(started, ["a1"]);
    await pass(1);
    assert.deepEqual(started, ["a1", "a2"]);
  });

  it("come soon beside an owner whose tasks wait for the end of its own long rest", async () => {
    const slow = open({ restFactor: 3 });
    const { run, end, started } = open({ restFactor: 100 });
    for (const name of ["b1", "b2"]) void slow.run(name);
    for (const name of ["a1", "a2"]) void run(name);
    await pass(200);
    await slow.end("b1");
    await end("a1");
    const passWithA = async (ms: number) => {
      for (let passed = 0; passed < ms; passed++) {
        seeOwner("a");
        await pass(1);
      }
    };

    await passWithA(100);
    assert.deepEqual([slow.started, started], [["b1"], ["a1", "a2"]]);
    await passWithA(499);
    assert.deepEqual(slow.started, ["b1"]);
    await passWithA(1);
    assert.deepEqual(slow.started, ["b1", "b2"]);
  });

  it("come later after a task that took longer than a slice, but within 5 seconds", async () => {
    for (const [tookMs, restMs] of [
      [10, 20],
      [40, 4 * 80],
      [60_000, 5000],
    ] as const) {
      const { run, end, started } = open({ restFactor: 2, sliceMs: 10 });
      void run("a1");
      void run("a2");
      now += tookMs;
      seeOwner("b");
      await end("a1");
      for (let rested = 1; rested < restMs; rested++) {
        seeOwner("b");
        await pass(1);
      }
      assert.deepEqual(started, ["a1"], `${tookMs}`);
      await pass(1);
      assert.deepEqual(started, ["a1", "a2"], `${tookMs}`);
      await end("a2");
      now += 60_000;
    }
  });

  it("leave slots to others than owners of long tasks", async () => {
    const { started, run, end } = open({ max: 3, maxOfLong: 1, sliceMs: 100 });
    const long = ["a1", "b1", "c1"].map((name) => run(name));
    const next = ["a2", "b2", "c2"].map((name) => run(name));
    await pass(101);
    await end("a1", "b1", "c1");
    assert.deepEqual(started.slice(3), ["a2"]);

    const others = ["d", "e"].map((name) => run(name));
    assert.deepEqual(started.slice(4), ["d", "e"]);

    await end("a2", "d", "b2", "c2", "e");
    await Promise.all([...long, ...next, ...others]);
    assert.deepEqual(started.slice(6), ["b2", "c2"]);
  });

  it("leave a place to owners known to be quick, whatever new ones do", async () => {
    const { started, run, end } = open({ max: 4, maxOfLong: 2, maxOfUnproven: 3, sliceMs: 100 });
    void run("q1");
    void run("a1");
    await end("q1", "a1");
    for (const name of ["b1", "c1", "d1", "e1"]) void run(name);
    assert.deepEqual(started.slice(2), ["b1", "c1", "d1"]);
    void run("q2");
    assert.deepEqual(started.slice(5), ["q2"]);
    await end("b1", "c1", "q2", "d1", "e1");
  });

  it("leave a place to a newcomer, whatever an owner does who is alone", async () => {
    const { started, run } = open({ max: 4, maxOfLong: 2, maxOfUnproven: 3, sliceMs: 100 });
    for (const name of ["a1", "a2", "a3"]) void run(name);
    assert.deepEqual(started, ["a1", "a2"]);
    void run("b1");
    assert.deepEqual(started.slice(2), ["b1"]);
  });

  it("know an owner of long tasks for 10 seconds, also one who goes, or has a short one between them", async () => {
    const { started, run, end } = open({ max: 3, maxOfLong: 1, sliceMs: 100 });
    const runFor = async (ms: number, ...names: string[]) => {
      for (const name of names) void run(name);
      await pass(ms);
      await end(...names);
    };
    await runFor(101, "a1", "b1");
    await pass(5000);
    await runFor(1, "a2", "b2");
    await pass(4000);
    for (const name of ["a3", "b3", "c1"]) void run(name);
    assert.deepEqual(started.slice(4), ["a3", "c1"]);
    await end("a3", "b3", "c1");

    await pass(2000);
    for (const name of ["a4", "b4"]) void run(name);
    assert.deepEqual(started.slice(7), ["a4", "b4"]);
  });

  it("come a moment after a late task, even if nobody else is known", async () => {
    const { run, end, started } = open({ max: 4, restFactor: 1, lateMs: 100 });
    for (const name of ["a1", "a2", "a3", "a4"]) void run(name);
    assert.deepEqual(started, ["a1", "a2", "a3"]);
    await pass(101);
    await end("a1");
    await pass(49);
    assert.deepEqual(started, ["a1", "a2", "a3"]);
    await pass(1);
    assert.deepEqual(started, ["a1", "a2", "a3", "a4"]);
  });

  it("come after the whole rest of a late task if others were found meanwhile", async () => {
    const { run, end, started } = open({ max: 4, restFactor: 2, lateMs: 50, sliceMs: 100 });
    for (const name of ["a1", "a2", "a3", "a4"]) void run(name);
    await pass(100);
    await end("a1", "a2", "a3");
    for (let rested = 1; rested < 200; rested++) {
      seeOwner("b");
      await pass(1);
    }
    assert.deepEqual(started, ["a1", "a2", "a3"]);
    await pass(1);
    assert.deepEqual(started, ["a1", "a2", "a3", "a4"]);
  });

  it("keep no organization waiting for callers who have not said who they are", async () => {
    const { run, end, started } = open({ max: 3, restFactor: 3 });
    const unknown = ownerOfNetwork("192.0.2.0/24");
    void run("x1", undefined, unknown);
    for (const name of ["a1", "a2"]) void run(name);
    void run("x2", undefined, unknown);
    assert.deepEqual(started, ["x1", "a1", "a2"]);

    await pass(10);
    await end("x1");
    await pass(29);
    assert.deepEqual(started.slice(3), []);
    await pass(1);
    assert.deepEqual(started.slice(3), ["x2"]);
  });

  it("go on after a task failed", async () => {
    const turns = openTurns(none);
    const failing = turns.take("a", () => Promise.reject(new Error("broken")));
    const next = turns.take("a", async () => "done");
    await assert.rejects(failing, /broken/);
    assert.equal(await next, "done");
  });
});
