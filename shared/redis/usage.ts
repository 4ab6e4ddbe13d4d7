import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { secondMs } from "../durations.ts";
import { openGatherer, pause } from "../sharing/gatherer.ts";
import type { Breaker } from "./breaker.ts";
import type { RedisKeys } from "./keys.ts";

export interface Use {
  at: Date;
  ip: string;
  userAgent: string | null;
}

/** Spares a database write per request: uses wait in memory, then in Redis for a worker. A crash loses a few. */
export interface Usage {
  record(tokenId: string, use: Use): void;
  flush(): Promise<void>;
  /** Returns no uses while Redis is away. */
  take(): Promise<[tokenId: string, use: Use][]>;
  /** Takes uses back that could not be written. Later uses of the same tokens win. */
  putBack(uses: [tokenId: string, use: Use][]): Promise<void>;
}

const flushEveryMs = 2 * secondMs;
const maxInMemory = 10_000;
const takeCount = 100;
const script = readFileSync(join(import.meta.dirname, "usage.lua"), "utf8");

interface WithScript {
  takeUsage(key: string, count: number): Promise<string[]>;
}

export function createUsage(options: { redis: Redis; keys: RedisKeys; breaker: Breaker }): Usage {
  const { redis, keys, breaker } = options;
  redis.defineCommand("takeUsage", { numberOfKeys: 1, lua: script });
  const scripted = redis as unknown as WithScript;
  const uses = openGatherer<[tokenId: string, use: Use]>({
    when: (_, hurry) => pause(flushEveryMs, hurry),
    keyOf: ([tokenId]) => tokenId,
    merge: (one, other) => (one[1].at > other[1].at ? one : other), // a use that was put back is old
    kept: { max: maxInMemory },
    async flush(used) {
      const values = used.flatMap(([tokenId, use]) => [tokenId, JSON.stringify(use)]);
      const stored = await breaker.try(() => redis.hset(keys.usage, ...values));
      if (stored === undefined) throw new Error("Redis is away");
    },
  });

  return {
    record: (tokenId, use) => uses.put([tokenId, use]),
    flush: uses.flush,
    async take() {
      const reply = (await breaker.try(() => scripted.takeUsage(keys.usage, takeCount))) ?? [];
      const taken: [string, Use][] = [];
      for (let i = 0; i < reply.length; i += 2) {
        const use = JSON.parse(reply[i + 1] as string) as Use & { at: string };
        taken.push([reply[i] as string, { ...use, at: new Date(use.at) }]);
      }
      return taken;
    },
    async putBack(taken) {
      const commands = taken.map(([tokenId, use]) => ["hsetnx", keys.usage, tokenId, JSON.stringify(use)]);
      const stored = await breaker.try(() => redis.pipeline(commands).exec());
      if (stored === undefined) for (const use of taken) uses.put(use);
    },
  };
}
