import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { after, describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { DeadlineExceeded, Threads, type ThreadsOptions } from "../../shared/process/threads.ts";
import { block } from "../helpers/clock.ts";
import type { echo, giveBack } from "./odd-thread.ts";

const module = new URL("./odd-thread.ts", import.meta.url);

/** `ask` never rejects here. */
function open({ at = module, ...options }: Partial<ThreadsOptions> & { at?: URL } = {}) {
  const threads = new Threads({ max: 1, ...options });
  const echoInThread = threads.wrap<typeof echo>(at, "echo");
  const ask = (text: string, signal?: AbortSignal) =>
    echoInThread({ body: Buffer.from(text) }, { signal }).catch((error: Error) => {
      if (error instanceof DeadlineExceeded) return "(too late)";
      return `(${error.message})`;
    });
  return {
    ask,
    askAll: (texts: string[]) => Promise.all(texts.map((text) => ask(text))),
    close: () => threads.close(),
  };
}

describe("a thread", () => {
  it("answers each waiting request with its own result", async () => {
    const { askAll, close } = open();
    const texts = Array.from({ length: 500 }, (_, index) => `question ${index}`);

    assert.deepEqual(await askAll(texts), texts);
    assert.deepEqual(await askAll(["", "again"]), ["", "again"]);
    await close();
  });

  const niceness = (thread: string) => {
    const [, rest = ""] = readFileSync(`/proc/self/task/${thread}/stat`, "utf8").split(") ");
    return Number(rest.split(" ")[16]);
  };

  it("lets the event loop go first", { skip: process.platform !== "linux" }, async () => {
    const { ask, close } = open();
    await ask("start");
    const own = niceness(`${process.pid}`);
    const { PRIORITY_BELOW_NORMAL } = constants.priority;
    const lowest = Math.max(...readdirSync("/proc/self/task").map(niceness));
    assert.equal(lowest, Math.max(own, PRIORITY_BELOW_NORMAL));
    await close();
  });

  const isRoot = process.platform === "linux" && process.getuid?.() === 0;
  it("stays as low as its process, which only root may leave", { skip: !isRoot }, async () => {
    const before = new Set(readdirSync("/proc/self/task"));
    const own = getPriority();
    setPriority(15);
    try {
      const { ask, close } = open();
      await ask("start");
      const begun = readdirSync("/proc/self/task").filter((thread) => !before.has(thread));
      assert.ok(begun.length > 0);
      for (const thread of begun) assert.equal(niceness(thread), 15);
      await close();
    } finally {
      setPriority(own);
    }
  });

  it("copies bytes to and fro, but for those that are transferred", async () => {
    const threads = new Threads({ max: 1 });
    const giveInThread = threads.wrap<typeof giveBack>(module, "giveBack");
    const [copied, moved] = [new Uint8Array(10), new Uint8Array(20)];

    const first = await giveInThread({ bytes: copied });
    const second = await giveInThread({ bytes: moved, moves: true }, { transferred: [moved.buffer] });
    const { before } = await giveInThread({ bytes: new Uint8Array(1) });

    assert.deepEqual([first.bytes.length, second.bytes.length], [10, 20]);
    assert.deepEqual([copied.length, moved.length], [10, 0], "the caller's");
    assert.deepEqual(before, [10, 0], "the thread's");
    await threads.close();
  });

  it("rejects the request that takes too long, and does the others", async () => {
    const { askAll, close } = open({ deadlineMs: 100 });

    const answers = await askAll(["a", "spin", "b", "spin", "c"]);

    assert.deepEqual(answers, ["a", "(too late)", "b", "(too late)", "c"]);
    await close();
  });

  it("does not count the time to start or to wait for other requests", async () => {
    const { askAll, close } = open({ deadlineMs: 200 });
    const texts = Array.from({ length: 8 }, () => "spin 40 ms");
    assert.deepEqual(await askAll(texts), texts);
    await close();
  });

  it("does not reject an answer because its own process stalled", async () => {
    const { ask, close } = open({ deadlineMs: 100 });
    await ask("started");

    const answer = ask("quick");
    block(600);

    assert.equal(await answer, "quick");
    await close();
  });

  it("does not count the time in which the thread has no CPU", async () => {
    const { askAll, close } = open({ deadlineMs: 100 });
    const texts = ["a", "rest 400 ms", "b", "rest 400 ms"];
    assert.deepEqual(await askAll(texts), texts);
    await close();
  });

  it("ends a thread that does nothing", async () => {
    const { askAll, close } = open({ deadlineMs: 20 });
    assert.deepEqual(await askAll(["a", "rest", "b"]), ["a", "(too late)", "b"]);
    await close();
  });

  for (const [told, message] of [
    ["throw", "(thrown in the thread)"],
    ["exit", "(The thread ended by itself.)"],
  ] as const) {
    it(`rejects only the request that ends the thread: ${told}`, async () => {
      const { ask, askAll, close } = open();
      assert.deepEqual(await askAll(["a", told, "b", "c"]), ["a", message, "b", "c"]);
      assert.equal(await ask("d"), "d");
      await close();
    });
  }

  it("is replaced at once when it is ended, and has its module before the next task", async () => {
    const { ask, close } = open({ deadlineMs: 50 });
    await ask("a");
    const started = once(process, "worker");

    assert.equal(await ask("spin"), "(too late)");

    const [thread] = await started;
    const [message] = await once(thread, "message");
    assert.deepEqual(Object.keys(message), ["cpuMs"]);
    assert.equal(await ask("b"), "b");
    await close();
  });

  it("says how long a task waited for it, not how long it worked", async () => {
    const waits: number[] = [];
    const { ask, askAll, close } = open({ handleWait: (ms) => waits.push(ms) });
    await ask("a");
    const startedAt = performance.now();

    await askAll(["rest 400 ms", "b"]);

    const tookMs = performance.now() - startedAt;
    const [, first = Number.NaN, second = Number.NaN] = waits;
    assert.ok(first <= tookMs - 400, `${first} of ${tookMs}`);
    assert.ok(second >= 400, `${second}`);
    await close();
  });

  it("rejects everything when it cannot start", async () => {
    const { askAll, close } = open({ at: new URL("./no-such-thread.ts", import.meta.url) });
    for (const answer of await askAll(["a", "b"])) assert.match(answer, /no-such-thread/);
    assert.match((await askAll(["c"]))[0] ?? "", /no-such-thread/);
    await close();
  });

  it("rejects waiting and later requests once it is closed", async () => {
    const { ask, close } = open();
    const waiting = ask("spin");
    await close();
    assert.equal(await waiting, "(The threads are closed.)");
    assert.equal(await ask("a"), "(The threads are closed.)");
  });
});

describe("a thread that loads its module", () => {
  const channel = new BroadcastChannel("slow thread");
  after(() => channel.close());

  // A native module that is loading would take the process with it.
  const ways = {
    "its threads are closed": ({ close }: ReturnType<typeof open>) => close(),
    "its caller goes": async ({ close }: ReturnType<typeof open>, gone: AbortController) => {
      gone.abort(new Error("gone"));
      await close();
    },
  };
  for (const [when, end] of Object.entries(ways))
    it(`has loaded it before it ends, when ${when}`, async () => {
      let isLoaded = false;
      channel.onmessage = () => {
        isLoaded = true;
      };
      const opened = open({ at: new URL("./slow-thread.ts", import.meta.url) });
      const gone = new AbortController();
      const asked = opened.ask("a", gone.signal);

      await end(opened, gone);

      await asked;
      await nextTurn();
      assert.ok(isLoaded);
    });
});

describe("several threads", () => {
  it("work at once, while others wait", async () => {
    const { ask, close } = open({ max: 2 });
    const gone = new AbortController();
    const spinning = ask("spin", gone.signal);
    assert.equal(await ask("a"), "a");

    const others = [ask("spin", gone.signal), ask("b", gone.signal)];
    gone.abort(new Error("gone"));

    assert.deepEqual(await Promise.all([spinning, ...others]), ["(gone)", "(gone)", "(gone)"]);
    assert.equal(await ask("c"), "c");
    await close();
  });
});
