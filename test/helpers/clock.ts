import type { Clock } from "../../shared/runtime/clock.ts";

/** A running clock that a test can move. */
export interface TestClock extends Clock {
  advance(ms: number): void;
  /** Stops the clock, so that a test can reach a boundary to the millisecond. */
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
