import type { Redis } from "ioredis";
import { secondMs } from "../durations.ts";
import type { Log } from "../process/log.ts";
import { lastErrorOf } from "./connect.ts";
import type { RedisKeys } from "./keys.ts";
import type { RedisHealth, RedisState } from "./problems.ts";

export interface RedisWatch {
  /** The last state that was seen. It is looked at when a connection begins or ends, and every 10 seconds. */
  state(): RedisState;
  close(): void;
}

const checkEveryMs = 10 * secondMs;
/** A process need not find Redis at once. */
const firstCheckMs = 2 * secondMs;

/** Logs each change of the state of Redis. @param options.onDataLost called when its keys are gone */
export function watchRedis(options: {
  redis: Redis;
  keys: RedisKeys;
  check: () => Promise<RedisHealth>;
  log: Log;
  onDataLost: () => void;
}): RedisWatch {
  const { redis, keys, check: ask, log, onDataLost } = options;
  let state: RedisState = "ok";
  let isMarked = false;
  let isClosed = false;

  let said: string | undefined;

  const change = ({ state: next, message, cause }: RedisHealth) => {
    if (isClosed || (next === state && message === said)) return;
    state = next;
    said = message;
    if (next === "ok") log.info("Redis is well again");
    else log.error({ state: next, cause }, message);
  };
  /** A mark that is gone shows a flush, or a restart without its data. */
  const lookForMark = async () => {
    const found = await redis.set(keys.mark, "1", "GET");
    if (isMarked && found === null && !isClosed) {
      onDataLost();
      log.error("Redis has lost its data: recurring background jobs begin anew");
    }
    isMarked = true;
  };
  const check = async () => {
    if (isFirstAttempt(redis)) return; // its end calls this again
    const first = await ask();
    // A process that starts may be too busy to take the answer in time.
    const health = !isMarked && first.state === "unavailable" ? await ask() : first;
    change(health);
    if (health.state === "ok") await lookForMark().catch(() => {}); // the next check sees it
  };

  redis.on("ready", check);
  redis.on("close", () => state === "ok" && check());
  const soon = setTimeout(check, firstCheckMs).unref();
  const timer = setInterval(check, checkEveryMs).unref();
  return {
    state: () => state,
    close() {
      isClosed = true;
      clearTimeout(soon);
      clearInterval(timer);
    },
  };
}

/** No attempt to connect has ended yet. A process that starts may be too busy for that for seconds. */
function isFirstAttempt(redis: Redis): boolean {
  return ["connecting", "connect"].includes(redis.status) && lastErrorOf(redis) === undefined;
}
