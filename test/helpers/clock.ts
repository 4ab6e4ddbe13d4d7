import type { Clock } from "../../shared/runtime/clock.ts";

/** A clock that goes on by itself, and that a test can move. */
export interface TestClock extends Clock {
  advance(ms: number): void;
  /** From now on it is moved by `advance` alone, so that a boundary can be met to the millisecond. */
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
