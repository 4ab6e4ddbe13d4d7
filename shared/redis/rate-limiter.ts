import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import type { Breaker } from "./breaker.ts";
import type { RedisKeys } from "./keys.ts";

export const bucketsPerWindow = 60;

/** One limit on one subject: at most `limit` slots in any `windowMs`, which is a multiple of 60. */
export interface RateLimit {
  name: string;
  subject: string;
  limit: number;
  windowMs: number;
}

export interface RateLimitState {
  admitted: boolean;
  limit: number;
  remaining: number;
  /** Milliseconds until the next slot returns; after a refusal, until there is room. */
  resetMs: number;
}

export interface RateLimiter {
  /** Take a slot. A refused call takes none. */
  admit(window: RateLimit): Promise<RateLimitState>;
  /** How the window stands, without taking a slot. */
  peek(window: RateLimit): Promise<RateLimitState>;
  /** Return a slot that was taken for something that turned out not to count. */
  giveBack(window: RateLimit): Promise<void>;
}

const script = readFileSync(join(import.meta.dirname, "sliding-window.lua"), "utf8");

type Reply = [taken: number, remaining: number, resetMs: number];
interface WithScript {
  slidingWindow(key: string, limit: number, bucketMs: number, change: number): Promise<Reply>;
}

/** Calls for the same window that arrive in the same turn of the event loop: one trip to Redis serves them all. */
interface Batch {
  window: RateLimit;
  waiting: ((state: RateLimitState | Promise<RateLimitState>) => void)[];
}

/** What the call at `index` of a batch learns from the reply to the whole batch. */
function stateOf([taken, remaining, resetMs]: Reply, index: number, limit: number): RateLimitState {
  const takenAfterwards = Math.max(0, taken - 1 - index);
  return { admitted: index < taken, limit, remaining: remaining + takenAfterwards, resetMs };
}

/** Windows in Redis, shared by all processes; while Redis is away, those of `fallback`. */
export function createRateLimiter(options: {
  redis: Redis;
  keys: RedisKeys;
  breaker: Breaker;
  fallback: RateLimiter;
  onFallback: () => void;
}): RateLimiter {
  const { redis, keys, breaker, fallback, onFallback } = options;
  redis.defineCommand("slidingWindow", { numberOfKeys: 1, lua: script });
  const scripted = redis as unknown as WithScript;
  const batches = new Map<string, Batch>();

  const keyOf = ({ name, subject }: RateLimit) => keys.window(name, subject);
  const change = (window: RateLimit, by: number) =>
    breaker.attempt(() =>
      scripted.slidingWindow(keyOf(window), window.limit, window.windowMs / bucketsPerWindow, by),
    );

  const flush = async (key: string) => {
    const { window, waiting } = batches.get(key) as Batch;
    batches.delete(key);
    const reply = await change(window, waiting.length);
    for (const [index, resolve] of waiting.entries()) {
      if (reply) resolve(stateOf(reply, index, window.limit));
      else {
        onFallback();
        resolve(fallback.admit(window));
      }
    }
  };

  return {
    admit: (window) =>
      new Promise((resolve) => {
        // The limit is part of the key here: who knows an older one must not decide for others.
        const key = `${keyOf(window)} ${window.limit}`;
        const batch = batches.get(key);
        if (batch) {
          batch.waiting.push(resolve);
          return;
        }
        batches.set(key, { window, waiting: [resolve] });
        setImmediate(flush, key);
      }),
    async peek(window) {
      const reply = await change(window, 0);
      if (!reply) return fallback.peek(window);
      const [, remaining, resetMs] = reply;
      return { admitted: remaining > 0, limit: window.limit, remaining, resetMs };
    },
    async giveBack(window) {
      if (!(await change(window, -1))) await fallback.giveBack(window);
    },
  };
}
