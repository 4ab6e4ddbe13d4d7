import { LRUCache } from "lru-cache";
import type { Clock } from "../process/clock.ts";
import { bucketsPerWindow, type RateLimiter, type RateLimitState } from "./rate-limiter.ts";

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
  let made: LRUCache<string, Counts> | undefined;
  /** Made while Redis is away for the first time: it takes 3 MB at once. */
  const openWindows = () => (made ??= new LRUCache({ max: maxKeys }));

  const change = (key: string, limit: number, bucketMs: number, by: 1 | 0 | -1): RateLimitState => {
    const windows = openWindows();
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

  const key = (name: string, subject: string) => `${name}:${subject}`;
  return {
    admit: async (w) => change(key(w.name, w.subject), w.limit, w.windowMs / bucketsPerWindow, 1),
    peek: async (w) => change(key(w.name, w.subject), w.limit, w.windowMs / bucketsPerWindow, 0),
    async giveBack(w) {
      change(key(w.name, w.subject), w.limit, w.windowMs / bucketsPerWindow, -1);
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
