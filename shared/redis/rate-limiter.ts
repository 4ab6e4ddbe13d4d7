import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Redis } from "ioredis";
import { createBatcher } from "../runtime/batcher.ts";
import type { Breaker } from "./breaker.ts";
import type { RedisKeys } from "./keys.ts";

export const bucketsPerWindow = 60;

/** Allows `limit` slots in any `windowMs`, a multiple of 60. */
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
  /** Until the next slot returns. */
  resetMs: number;
}

export interface RateLimiter {
  /** Takes a slot, unless refused. */
  admit(window: RateLimit): Promise<RateLimitState>;
  /** Takes no slot. */
  peek(window: RateLimit): Promise<RateLimitState>;
  /** For calls that turned out not to count. */
  giveBack(window: RateLimit): Promise<void>;
}

const script = readFileSync(join(import.meta.dirname, "sliding-window.lua"), "utf8");

type Reply = [taken: number, remaining: number, resetMs: number];
interface WithScript {
  slidingWindow(key: string, limit: number, bucketMs: number, change: number): Promise<Reply>;
}

function stateOf([taken, remaining, resetMs]: Reply, index: number, limit: number): RateLimitState {
  const takenAfterwards = Math.max(0, taken - 1 - index);
  return { admitted: index < taken, limit, remaining: remaining + takenAfterwards, resetMs };
}

/** Uses `fallback` while Redis is away. */
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

  const keyOf = ({ name, subject }: RateLimit) => keys.window(name, subject);
  const change = (window: RateLimit, by: number) =>
    breaker.attempt(() =>
      scripted.slidingWindow(keyOf(window), window.limit, window.windowMs / bucketsPerWindow, by),
    );

  /** Makes one trip to Redis. */
  const admitTogether = async (window: RateLimit, calls: number): Promise<RateLimitState[]> => {
    const reply = await change(window, calls);
    const states = Array.from({ length: calls }, (_, index) => {
      if (reply) return stateOf(reply, index, window.limit);
      onFallback();
      return fallback.admit(window);
    });
    return Promise.all(states);
  };

  const flush = async (windows: RateLimit[]) => {
    const states: RateLimitState[] = [];
    // A caller with an older limit must not decide for others.
    const groups = Map.groupBy(windows.keys(), (index) => {
      const window = windows[index] as RateLimit;
      return `${keyOf(window)} ${window.limit}`;
    });
    const admit = async (indexes: number[]) => {
      const admitted = await admitTogether(windows[indexes[0] as number] as RateLimit, indexes.length);
      for (const [position, index] of indexes.entries()) states[index] = admitted[position] as RateLimitState;
    };
    await Promise.all([...groups.values()].map(admit));
    return states;
  };
  const batcher = createBatcher({ flush, gather: () => nextTurn(), overlaps: true });

  return {
    admit: batcher.add,
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
