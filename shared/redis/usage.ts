import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { LRUCache } from "lru-cache";
import type { Breaker } from "./breaker.ts";
import type { RedisKeys } from "./keys.ts";

/** When, and by whom, an access token was used. */
export interface Use {
  at: Date;
  ip: string;
  userAgent: string | null;
}

/**
 * Notes of when tokens were last used, on their way to the database without a write for each request: kept in
 * memory, handed to Redis every few seconds, from where a worker takes them. Notes that a crash takes along
 * are missed by nobody but a "last used" that stays behind.
 */
export interface Usage {
  record(tokenId: string, use: Use): void;
  /** Hand what was noted over to Redis now. */
  flush(): Promise<void>;
  /** Take some notes, in no order; none when there are none, or Redis is away. */
  take(): Promise<[tokenId: string, use: Use][]>;
  close(): Promise<void>;
}

const flushEveryMs = 2000;
const maxInMemory = 10_000;
const takenAtOnce = 100;
const script = readFileSync(join(import.meta.dirname, "usage.lua"), "utf8");

interface WithScript {
  takeUsage(key: string, count: number): Promise<string[]>;
}

export function createUsage(options: { redis: Redis; keys: RedisKeys; breaker: Breaker }): Usage {
  const { redis, keys, breaker } = options;
  redis.defineCommand("takeUsage", { numberOfKeys: 1, lua: script });
  const scripted = redis as unknown as WithScript;
  const noted = new LRUCache<string, Use>({ max: maxInMemory });

  const flush = async () => {
    if (noted.size === 0) return;
    const entries = [...noted.entries()];
    const values = entries.flatMap(([tokenId, use]) => [tokenId, JSON.stringify(use)]);
    if ((await breaker.attempt(() => redis.hset(keys.usage, ...values))) === undefined) return;
    for (const [tokenId, use] of entries) if (noted.peek(tokenId) === use) noted.delete(tokenId);
  };
  const timer = setInterval(flush, flushEveryMs);
  timer.unref();

  return {
    record: (tokenId, use) => void noted.set(tokenId, use),
    flush,
    async take() {
      const reply = (await breaker.attempt(() => scripted.takeUsage(keys.usage, takenAtOnce))) ?? [];
      const notes: [string, Use][] = [];
      for (let i = 0; i < reply.length; i += 2) {
        const use = JSON.parse(reply[i + 1] as string) as Use & { at: string };
        notes.push([reply[i] as string, { ...use, at: new Date(use.at) }]);
      }
      return notes;
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
