import { mock, type TestContext } from "node:test";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../shared/process/clock.ts";
import { seeOwner } from "../../shared/sharing/presence.ts";

export interface TestClock extends Clock {
  advance(ms: number): void;
  /** Stops the clock for boundaries of a millisecond. */
  freeze(): void;
}

export function testClock(): TestClock {
  let offset = 0;
  let frozenAt: number | undefined;
  return {
    now: () => new Date((frozenAt ?? Date.now()) + offset),
    advance(ms) {
      offset += ms;
    },
    freeze() {
      frozenAt = Date.now();
    },
  };
}

const never = new Int32Array(new SharedArrayBuffer(4));

/** Keeps the event loop from all else, as work does, and takes no CPU time from other tests. */
export function block(ms: number): void {
  Atomics.wait(never, 0, 0, ms);
}

/** Slots of owners who took turns before rest no longer. */
const restedMs = 200;
let heldAt = 0;

/**
 * Holds the time that owners' turns and rests are measured by, whatever the machine does. Nobody was seen before.
 * @returns lets time pass; without `timers` their time does not come
 */
export async function holdTime(context: TestContext): Promise<(ms: number, timers?: "wait") => void> {
  await sleep(restedMs);
  heldAt = Math.max(heldAt, performance.now() + restedMs);
  const clock = mock.method(performance, "now", () => heldAt);
  mock.timers.enable({ apis: ["setTimeout"] });
  const pass = (ms: number, timers?: "wait") => {
    heldAt += ms;
    if (!timers) mock.timers.tick(ms);
  };
  context.after(async () => {
    await nextTurn();
    for (let rest = 0; rest < 10; rest++) pass(50); // else slots rest for ever
    clock.mock.restore();
    mock.timers.reset();
    for (const owner of ["one", "another"]) seeOwner(owner); // else the last ones are seen in future
  });
  return pass;
}
