import type { Clock } from "../process/clock.ts";
import { rememberRecent } from "../sharing/recent.ts";
import { bucketsPerWindow, type RateLimit, type RateLimiter, type RateLimitState } from "./rate-limiter.ts";

const span = bucketsPerWindow + 1;
const maxKeys = 100_000;

interface Counts {
  /** By bucket number modulo 61. */
  buckets: number[];
  newest: number;
  oldest: number;
  total: number;
}

/** `sliding-window.lua` in memory. */
export function memoryRateLimiter(clock: Clock): RateLimiter {
  const windows = rememberRecent<Counts>(maxKeys);

  const change = ({ name, subject, limit, windowMs }: RateLimit, by: 1 | 0 | -1): RateLimitState => {
    const key = `${name}:${subject}`;
    const bucketMs = windowMs / bucketsPerWindow;
    const counts = windows.get(key) ?? { buckets: [], newest: 0, oldest: 0, total: 0 };
    windows.set(key, counts);
    const now = Math.max(clock.now().getTime(), counts.newest * bucketMs);
    const current = Math.floor(now / bucketMs);
    advance(counts, current);

    const admitted = by === -1 || counts.total < limit;
    if (by === -1) giveBack(counts, current);
    else if (by === 1 && admitted) {
      counts.buckets[current % span] = taken(counts, current) + 1;
      counts.total += 1;
    }
    const resetMs = (counts.oldest + span) * bucketMs - now;
    return { admitted, limit, remaining: Math.max(0, limit - counts.total), resetMs };
  };

  return {
    async admit(...wanted) {
      for (const window of wanted) {
        const state = change(window, 0);
        if (!state.admitted) return state;
      }
      const states = wanted.map((window) => change(window, 1));
      return states.reduce((least, state) => (state.remaining < least.remaining ? state : least));
    },
    peek: async (window) => change(window, 0),
    async giveBack(window) {
      change(window, -1);
    },
  };
}

function advance(counts: Counts, current: number): void {
  if (current - counts.newest >= span) {
    Object.assign(counts, { buckets: [], oldest: current, total: 0 });
  }
  for (let bucket = counts.oldest; bucket <= current - span; bucket++) {
    counts.total -= taken(counts, bucket);
    counts.buckets[bucket % span] = 0;
  }
  counts.newest = current;
  counts.oldest = counts.total === 0 ? current : Math.max(counts.oldest, current - bucketsPerWindow);
  while (counts.oldest < current && taken(counts, counts.oldest) === 0) counts.oldest++;
}

function giveBack(counts: Counts, current: number): void {
  for (let bucket = current; bucket >= counts.oldest; bucket--) {
    if (taken(counts, bucket) === 0) continue;
    counts.buckets[bucket % span] = taken(counts, bucket) - 1;
    counts.total -= 1;
    return;
  }
}

function taken(counts: Counts, bucket: number): number {
  return counts.buckets[bucket % span] ?? 0;
}
