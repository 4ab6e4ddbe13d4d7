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
