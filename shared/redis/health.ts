import type { Redis } from "ioredis";
import { minuteMs } from "../durations.ts";
import type { RedisKeys } from "./keys.ts";

export type RedisState =
  | "ok"
  | "unavailable"
  | "wrong-eviction-policy"
  | "full"
  | "read-only"
  | "too-old"
  | "wrong-mode";

const minVersion = 6.2;

/** Sentences for operators: the problem and its remedy. */
export const redisProblems: Record<Exclude<RedisState, "ok">, string> = {
  unavailable: "Redis cannot be reached: start it, or check REDIS_URL. Builds follow when it is back",
  "wrong-eviction-policy": "Redis may evict keys: set its maxmemory-policy to noeviction",
  full: "Redis is full: raise its maxmemory",
  "read-only": "Redis takes no writes, as a replica does: point REDIS_URL to the master",
  "too-old": `Redis is too old: install ${minVersion} or newer, or Valkey`,
  "wrong-mode":
    "REDIS_URL names a node of a Redis Cluster, or a sentinel: name a single Redis, or the sentinels as redis+sentinel://…",
};

/** Writes, because a full Redis and a replica answer reads. */
export async function checkRedis(redis: Redis, keys: RedisKeys): Promise<RedisState> {
  if (redis.status !== "ready") return "unavailable";
  try {
    const server = await redis.info("server");
    if (!/redis_mode:standalone/.test(server)) return "wrong-mode";
    await writeCheck(redis, keys);
    // Eviction would drop jobs and counters.
    if (!/maxmemory_policy:noeviction/.test(await redis.info("memory"))) return "wrong-eviction-policy";
    const version = Number(/redis_version:(\d+\.\d+)/.exec(server)?.[1]);
    return version < minVersion ? "too-old" : "ok";
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

export interface RedisFacts {
  /** Major and minor, such as 7.2. */
  version: number;
  usedBytes: number;
  /** 0: no limit. */
  maxBytes: number;
  appendsToFile: boolean;
  /** Undefined: managed servers forbid to ask. */
  savesSnapshots: boolean | undefined;
  /** True after a failed write of the append-only file or of the last snapshot. */
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
