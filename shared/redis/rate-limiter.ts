import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
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
  /** The time until the next slot returns. */
  resetMs: number;
}

export interface RateLimiter {
  /** Takes a slot, unless refused. */
  admit(window: RateLimit): Promise<RateLimitState>;
  /** Takes no slot. */
  peek(window: RateLimit): Promise<RateLimitState>;
  /** Returns the slot of a call that turned out not to count. */
  giveBack(window: RateLimit): Promise<void>;
}

const script = readFileSync(join(import.meta.dirname, "sliding-window.lua"), "utf8");

type Reply = [taken: number, remaining: number, resetMs: number];
interface WithScript {
  slidingWindow(key: string, limit: number, bucketMs: number, change: number): Promise<Reply>;
}

/** Calls of one turn of the event loop on one window. */
interface Calls {
  window: RateLimit;
  waiting: ((state: RateLimitState | Promise<RateLimitState>) => void)[];
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

  const change = ({ name, subject, limit, windowMs }: RateLimit, by: number) =>
    breaker.try(() =>
      scripted.slidingWindow(keys.window(name, subject), limit, windowMs / bucketsPerWindow, by),
    );

  /** Makes one trip to Redis. */
  const admitTogether = async ({ window, waiting }: Calls) => {
    const reply = await change(window, waiting.length);
    for (let index = 0; index < waiting.length; index++) {
      if (!reply) onFallback();
      waiting[index]?.(reply ? stateOf(reply, index, window.limit) : fallback.admit(window));
    }
  };

  let gathering = new Map<string, Calls>();
  const flush = () => {
    const gathered = gathering;
    gathering = new Map();
    for (const calls of gathered.values()) void admitTogether(calls);
  };

  const callsOn = (window: RateLimit): Calls => {
    // A caller with an older limit must not decide for others.
    const key = `${window.name}:${window.subject} ${window.limit}`;
    const known = gathering.get(key);
    if (known) return known;
    if (gathering.size === 0) setImmediate(flush);
    const calls: Calls = { window, waiting: [] };
    gathering.set(key, calls);
    return calls;
  };

  return {
    admit: (window) =>
      new Promise((resolve) => {
        callsOn(window).waiting.push(resolve);
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
