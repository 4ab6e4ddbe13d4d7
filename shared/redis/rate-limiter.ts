import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Redis } from "ioredis";
import { openGatherer } from "../sharing/gatherer.ts";
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

export type RateLimits = [RateLimit, ...RateLimit[]];

export interface RateLimitState {
  admitted: boolean;
  limit: number;
  remaining: number;
  /** The time until the next slot returns. */
  resetMs: number;
}

export interface RateLimiter {
  /**
   * Takes a slot of each window, or of none.
   * @returns the state of the first window with the fewest slots left: of a refusal, the one that refuses
   */
  admit(...windows: RateLimits): Promise<RateLimitState>;
  /** Takes no slot. */
  peek(window: RateLimit): Promise<RateLimitState>;
  /** Returns the slot of a call that turned out not to count. */
  giveBack(window: RateLimit): Promise<void>;
}

const script = readFileSync(join(import.meta.dirname, "sliding-window.lua"), "utf8");

/** `windowNumber` begins at 1. */
type Reply = [taken: number, windowNumber: number, remaining: number, resetMs: number];
interface WithScript {
  slidingWindow(windows: number, ...keysAndArguments: (string | number)[]): Promise<Reply>;
}

/** Calls of one turn of the event loop on the same windows make one trip to Redis. */
interface Calls {
  windows: RateLimits;
  count: number;
}

/** Each of the calls takes the next state. */
interface Answer {
  reply: Reply | undefined;
  next: number;
}

function stateOf(
  [taken, windowNumber, remaining, resetMs]: Reply,
  index: number,
  windows: RateLimits,
): RateLimitState {
  const { limit } = windows[windowNumber - 1] ?? windows[0];
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
  redis.defineCommand("slidingWindow", { lua: script });
  const scripted = redis as unknown as WithScript;

  const change = (windows: RateLimits, by: number) => {
    const names = windows.map(({ name, subject }) => keys.window(name, subject));
    const bounds = windows.flatMap(({ limit, windowMs }) => [limit, windowMs / bucketsPerWindow]);
    return breaker.try(() => scripted.slidingWindow(windows.length, ...names, by, ...bounds));
  };

  const admitAll = async ({ windows, count }: Calls) => ({ reply: await change(windows, count), next: 0 });
  const calls = openGatherer<Calls, Answer>({
    when: () => nextTurn(),
    overlaps: true,
    // A caller with an older limit must not decide for others.
    keyOf: ({ windows }) =>
      windows.map(({ name, subject, limit }) => `${name}:${subject} ${limit}`).join("\n"),
    merge: ({ windows, count }) => ({ windows, count: count + 1 }),
    flush: (all) => Promise.all(all.map(admitAll)),
  });

  return {
    async admit(...windows) {
      const answer = await calls.add({ windows, count: 1 });
      if (answer.reply) return stateOf(answer.reply, answer.next++, windows);
      onFallback();
      return fallback.admit(...windows);
    },
    async peek(window) {
      const reply = await change([window], 0);
      if (!reply) return fallback.peek(window);
      const [, , remaining, resetMs] = reply;
      return { admitted: remaining > 0, limit: window.limit, remaining, resetMs };
    },
    async giveBack(window) {
      if (!(await change([window], -1))) await fallback.giveBack(window);
    },
  };
}
