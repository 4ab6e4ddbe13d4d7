import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { LRUCache } from "lru-cache";
import type { Breaker } from "./breaker.ts";
import type { RedisKeys } from "./keys.ts";

/** One poll of something that is polled at an interval, which grows when it is not kept. */
export interface Poll {
  /** What is polled: an id, never a secret. */
  subject: string;
  now: Date;
  intervalMs: number;
  /** How long polls are remembered. */
  lifetimeMs: number;
}

export interface Pacing {
  /**
   * Whether a poll comes too soon after the one before it; then the interval has grown by 5 seconds, from this
   * poll on (RFC 8628 §3.5). The first poll never is. Times are those of the callers' clocks: machines that
   * share a Redis have clocks that agree to well within the half second that is forgiven.
   */
  isTooSoon(poll: Poll): Promise<boolean>;
}

const stepMs = 5000;
const forgivenPart = 0.1;
const forgivenMs = 500;
const maxInMemory = 100_000;
const script = readFileSync(join(import.meta.dirname, "pacing.lua"), "utf8");

/** The script holds up everything else in Redis while it runs. */
const maxAtOnce = 100;

interface WithScript {
  pace(keys: number, ...keysAndArguments: (string | number)[]): Promise<(0 | 1)[]>;
}

interface Waiting {
  poll: Poll;
  resolve: (isTooSoon: boolean | Promise<boolean>) => void;
}

/**
 * Polls remembered in Redis, for all processes; while Redis is away, in the memory of this one. Those that arrive in
 * the same turn of the event loop make one trip.
 */
export function createPacing(options: { redis: Redis; keys: RedisKeys; breaker: Breaker }): Pacing {
  const { redis, keys, breaker } = options;
  redis.defineCommand("pace", { lua: script });
  const scripted = redis as unknown as WithScript;
  const fallback = memoryPacing();
  const waiting: Waiting[] = [];

  const flush = async () => {
    const batch = waiting.splice(0, maxAtOnce);
    if (waiting.length > 0) setImmediate(flush);
    const subjects = batch.map(({ poll }) => keys.pacing(poll.subject));
    const times = batch.flatMap(({ poll }) => [poll.now.getTime(), poll.intervalMs, poll.lifetimeMs]);
    const replies = await breaker.attempt(() =>
      scripted.pace(batch.length, ...subjects, stepMs, forgivenPart, forgivenMs, ...times),
    );
    for (const [index, { poll, resolve }] of batch.entries())
      resolve(replies ? replies[index] === 1 : fallback.isTooSoon(poll));
  };

  return {
    isTooSoon: (poll) =>
      new Promise((resolve) => {
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ poll, resolve });
      }),
  };
}

/** The same as `pacing.lua`, in this process's memory. */
export function memoryPacing(): Pacing {
  const polls = new LRUCache<string, { at: number; intervalMs: number }>({ max: maxInMemory });
  return {
    async isTooSoon({ subject, now, intervalMs }) {
      const at = now.getTime();
      const last = polls.get(subject);
      const required = last?.intervalMs ?? intervalMs;
      const forgiven = Math.max(required * forgivenPart, forgivenMs);
      const isTooSoon = last !== undefined && at - last.at < required - forgiven;
      polls.set(subject, { at, intervalMs: isTooSoon ? required + stepMs : required });
      return isTooSoon;
    },
  };
}
