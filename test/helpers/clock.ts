import type { Clock } from "../../shared/process/clock.ts";

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
