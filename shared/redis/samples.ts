import type { Redis } from "ioredis";
import type { Breaker } from "./breaker.ts";
import type { RedisKeys } from "./keys.ts";

/** Results that take long to count. All processes share one for a few seconds. */
export interface Samples {
  /** Undefined if nobody has taken one, or Redis is away. */
  find(subject: string): Promise<{ text: string; leftMs: number } | undefined>;
  /** Keeps the sample of another process if that was faster. */
  put(subject: string, text: string, leftMs: number): Promise<void>;
}

export function createSamples(options: { redis: Redis; keys: RedisKeys; breaker: Breaker }): Samples {
  const { redis, keys, breaker } = options;
  return {
    async find(subject) {
      const key = keys.sample(subject);
      const found = await breaker.try(() => Promise.all([redis.get(key), redis.pttl(key)]));
      const [text, leftMs] = found ?? [null, 0];
      return text === null || leftMs <= 0 ? undefined : { text, leftMs };
    },
    async put(subject, text, leftMs) {
      await breaker.try(() => redis.set(keys.sample(subject), text, "PX", leftMs, "NX"));
    },
  };
}
