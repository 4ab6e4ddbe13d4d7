/** Returns a whole number from 0 to `limit - 1`. */
export type Random = (limit: number) => number;

/** mulberry32: one seed repeats one sequence. */
export function randomNumbers(seed: number): Random {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[random(items.length)] as T;
}

/** Returns a whole number from `from` to `to`. */
export function between(random: Random, from: number, to: number): number {
  return from + random(to - from + 1);
}
