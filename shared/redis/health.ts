import type { Redis } from "ioredis";
import type { Log } from "../runtime/log.ts";

export type RedisState = "ok" | "unavailable" | "wrong-eviction-policy";

/** Eviction would drop jobs and counters. */
export async function checkRedis(redis: Redis): Promise<RedisState> {
  if (redis.status !== "ready") return "unavailable";
  try {
    const memory = await redis.info("memory");
    return /maxmemory_policy:noeviction/.test(memory) ? "ok" : "wrong-eviction-policy";
  } catch {
    return "unavailable";
  }
}

const minVersion = 6.2;

/** Checks on every connection. */
export function warnOfUnfitRedis(redis: Redis, log: Log): void {
  redis.on("ready", async () => {
    try {
      const version = /redis_version:(\d+\.\d+)/.exec(await redis.info("server"))?.[1];
      if (Number(version) < minVersion) {
        log.error({ version }, `Redis ${minVersion} or newer is needed`);
      }
      if ((await checkRedis(redis)) === "wrong-eviction-policy") {
        log.error("Redis may evict keys: set its maxmemory-policy to noeviction");
      }
    } catch (error) {
      log.warn({ err: error }, "Redis could not be asked for its version and policy");
    }
  });
}
