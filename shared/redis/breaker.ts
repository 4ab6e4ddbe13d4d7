import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import { secondMs } from "../durations.ts";
import type { Log } from "../process/log.ts";
import { isReadOnly } from "./connect.ts";
import { writeCheck } from "./health.ts";
import type { RedisKeys } from "./keys.ts";
import { isForbidden } from "./problems.ts";

const openMs = secondMs;

/**
 * Tries nothing for a second after a failure, then one write decides: a frozen Redis costs one time-out per second, not
 * one per request.
 */
export interface Breaker {
  /** Undefined while Redis is away. A timed-out command may still take effect. */
  try<T>(command: () => Promise<T>): Promise<T | undefined>;
  isOpen(): boolean;
}

/** @param options.onOpen called when a command has failed */
export function createBreaker(options: {
  redis: Redis;
  keys: RedisKeys;
  log: Log;
  onOpen: () => void;
}): Breaker {
  const { redis, keys, log, onOpen } = options;
  let open = false;

  const probe = async () => {
    while (redis.status !== "end") {
      await sleep(openMs, undefined, { ref: false });
      try {
        await writeCheck(redis, keys);
        open = false;
        log.info("Redis answers again");
        return;
      } catch (error) {
        // Redis may have another master by now.
        if (isReadOnly(error)) redis.disconnect(true);
      }
    }
  };

  const trip = (error: unknown) => {
    if (open) return;
    open = true;
    onOpen();
    log.warn({ err: error }, "Redis does not answer: limits are counted in memory and jobs follow later");
    void probe();
  };

  return {
    async try(command) {
      if (open || redis.status !== "ready") return undefined;
      try {
        return await command();
      } catch (error) {
        // Redis answers: other commands go on, and the watch names the missing right.
        if (!isForbidden(error)) trip(error);
        return undefined;
      }
    },
    isOpen: () => open || redis.status !== "ready",
  };
}
