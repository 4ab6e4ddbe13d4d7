import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Redis } from "ioredis";
import { secondMs } from "../durations.ts";
import { openGatherer } from "../sharing/gatherer.ts";
import { rememberRecent } from "../sharing/recent.ts";
import type { Breaker } from "./breaker.ts";
import type { RedisKeys } from "./keys.ts";

export interface Poll {
  /** An id, never a secret. */
  subject: string;
  now: Date;
  intervalMs: number;
  lifetimeMs: number;
}

export interface Pacing {
  /**
   * Each early poll adds 5 seconds to the interval (RFC 8628 §3.5). Half a second of tolerance covers clock
   * differences.
   */
  isTooSoon(poll: Poll): Promise<boolean>;
}

const stepMs = 5 * secondMs;
const toleratedPart = 0.1;
const toleratedMs = 500;
const maxSubjects = 100_000;
const script = readFileSync(join(import.meta.dirname, "pacing.lua"), "utf8");

/** The limit of a batch: Redis serves nobody else meanwhile. */
const maxBatch = 100;

interface WithScript {
  pace(keys: number, ...keysAndArguments: (string | number)[]): Promise<(0 | 1)[]>;
}

/** Falls back to memory while Redis is away. */
export function createPacing(options: { redis: Redis; keys: RedisKeys; breaker: Breaker }): Pacing {
  const { redis, keys, breaker } = options;
  redis.defineCommand("pace", { lua: script });
  const scripted = redis as unknown as WithScript;
  const fallback = memoryPacing();

  const flush = async (polls: Poll[]) => {
    const subjects = polls.map((poll) => keys.pacing(poll.subject));
    const times = polls.flatMap((poll) => [poll.now.getTime(), poll.intervalMs, poll.lifetimeMs]);
    const replies = await breaker.try(() =>
      scripted.pace(polls.length, ...subjects, stepMs, toleratedPart, toleratedMs, ...times),
    );
    if (replies) return replies.map((reply) => reply === 1);
    return Promise.all(polls.map((poll) => fallback.isTooSoon(poll)));
  };

  const { add } = openGatherer({ flush, when: () => nextTurn(), maxItems: maxBatch, overlaps: true });
  return { isTooSoon: add };
}

/** `pacing.lua` in memory. */
function memoryPacing(): Pacing {
  const polls = rememberRecent<{ lastMs: number; intervalMs: number }>(maxSubjects);
  return {
    async isTooSoon({ subject, now, intervalMs }) {
      const nowMs = now.getTime();
      const last = polls.get(subject);
      const required = last?.intervalMs ?? intervalMs;
      const toleranceMs = Math.max(required * toleratedPart, toleratedMs);
      const isTooSoon = last !== undefined && nowMs - last.lastMs < required - toleranceMs;
      polls.set(subject, { lastMs: nowMs, intervalMs: isTooSoon ? required + stepMs : required });
      return isTooSoon;
    },
  };
}
