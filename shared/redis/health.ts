import type { Redis } from "ioredis";
import { minuteMs } from "../durations.ts";
import type { Log } from "../runtime/log.ts";
import type { RedisKeys } from "./keys.ts";

export type RedisState = "ok" | "unavailable" | "wrong-eviction-policy" | "full" | "read-only";

/** Writes, because a full Redis and a replica answer reads. */
export async function checkRedis(redis: Redis, keys: RedisKeys): Promise<RedisState> {
  if (redis.status !== "ready") return "unavailable";
  try {
    await writeCheck(redis, keys);
    const memory = await redis.info("memory");
    // Eviction would drop jobs and counters.
    return /maxmemory_policy:noeviction/.test(memory) ? "ok" : "wrong-eviction-policy";
  } catch (error) {
    const { message } = error as Error;
    if (message.startsWith("OOM")) return "full";
    return isReadOnly(error) ? "read-only" : "unavailable";
  }
}

/** @throws while Redis takes no write */
export async function writeCheck(redis: Redis, keys: RedisKeys): Promise<void> {
  await redis.set(keys.check, "1", "PX", minuteMs);
}

/** The master became a replica, or its name now leads to one. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("READONLY");
}

export const minRedisVersion = 6.2;

export interface RedisFacts {
  /** Major and minor, such as 7.2. */
  version: number;
  usedBytes: number;
  /** 0: no limit. */
  maxBytes: number;
  appendsToFile: boolean;
  /** Undefined: managed servers forbid to ask. */
  savesSnapshots: boolean | undefined;
  /** Of the append-only file or of the last snapshot. */
  failsToWrite: boolean;
}

export async function describeRedis(redis: Redis): Promise<RedisFacts> {
  const info = await redis.info();
  const read = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? "";
  const save = (await redis.config("GET", "save").catch(() => undefined)) as string[] | undefined;
  return {
    version: Number(/^\d+\.\d+/.exec(read("redis_version"))?.[0]),
    usedBytes: Number(read("used_memory")),
    maxBytes: Number(read("maxmemory")),
    appendsToFile: read("aof_enabled") === "1",
    savesSnapshots: save && save[1] !== "",
    failsToWrite: read("rdb_last_bgsave_status") === "err" || read("aof_last_write_status") === "err",
  };
}

/** Checks on every connection. */
export function warnOfUnfitRedis(redis: Redis, keys: RedisKeys, log: Log): void {
  redis.on("ready", async () => {
    try {
      const { version } = await describeRedis(redis);
      if (version < minRedisVersion) log.error({ version }, `Redis ${minRedisVersion} or newer is needed`);
      const problem = redisProblems[await checkRedis(redis, keys)];
      if (problem) log.error(problem);
    } catch (error) {
      log.warn({ err: error }, "Redis could not be asked for its version and policy");
    }
  });
}

export const redisProblems: Partial<Record<RedisState, string>> = {
  "wrong-eviction-policy": "Redis may evict keys: set its maxmemory-policy to noeviction",
  full: "Redis is full: raise its maxmemory",
  "read-only": "Redis takes no writes, as a replica does: point REDIS_URL to the master",
};
