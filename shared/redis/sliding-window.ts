import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import type { Breaker } from "./breaker.ts";
import type { RedisKeys } from "./keys.ts";

export const bucketsPerWindow = 60;

/** One limit on one subject: at most `limit` slots in any `windowMs`, which is a multiple of 60. */
export interface Window {
  name: string;
  subject: string;
  limit: number;
  windowMs: number;
}

export interface WindowState {
  admitted: boolean;
  limit: number;
  remaining: number;
  /** Milliseconds until the next slot returns; after a refusal, until there is room. */
  resetMs: number;
}

export interface Windows {
  /** Take a slot. A refused call takes none. */
  take(window: Window): Promise<WindowState>;
  /** Return a slot that was taken for something that turned out not to count. */
  giveBack(window: Window): Promise<void>;
}

const script = readFileSync(join(import.meta.dirname, "sliding-window.lua"), "utf8");

type Reply = [admitted: number, remaining: number, resetMs: number];
interface WithScript {
  slidingWindow(key: string, limit: number, bucketMs: number, change: 1 | -1): Promise<Reply>;
}

/** Windows in Redis, shared by all processes; while Redis is away, those of `fallback`. */
export function slidingWindows(options: {
  redis: Redis;
  keys: RedisKeys;
  breaker: Breaker;
  fallback: Windows;
  onFallback: () => void;
}): Windows {
  const { redis, keys, breaker, fallback, onFallback } = options;
  redis.defineCommand("slidingWindow", { numberOfKeys: 1, lua: script });
  const scripted = redis as unknown as WithScript;

  const run = (window: Window, change: 1 | -1) =>
    breaker.attempt(() =>
      scripted.slidingWindow(
        keys.window(window.name, window.subject),
        window.limit,
        window.windowMs / bucketsPerWindow,
        change,
      ),
    );

  return {
    async take(window) {
      const reply = await run(window, 1);
      if (!reply) {
        onFallback();
        return fallback.take(window);
      }
      const [admitted, remaining, resetMs] = reply;
      return { admitted: admitted === 1, limit: window.limit, remaining, resetMs };
    },
    async giveBack(window) {
      if (!(await run(window, -1))) await fallback.giveBack(window);
    },
  };
}
