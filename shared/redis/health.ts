import type { Redis } from "ioredis";
import type { Log } from "../runtime/log.ts";

export type RedisState = "ok" | "unavailable" | "wrong-eviction-policy";

/** Is Redis there, and does it keep what it is given? An evicting Redis would drop jobs and counters at will. */
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

/** On every connection: say it when this Redis cannot do, or may lose, what we need. */
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
