import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { minuteMs } from "../durations.ts";
import { lastErrorOf } from "./connect.ts";
import type { RedisKeys } from "./keys.ts";
import { isForbidden, minVersion, problemOf, problemOfError, type RedisHealth } from "./problems.ts";

const script = readFileSync(join(import.meta.dirname, "check.lua"), "utf8");
const scriptKeys = ["text", "hash", "list", "stream", "set"];
/** Another process must not take the element for which this one blocks. */
const ownName = randomUUID();

interface WithScript {
  checkWork(count: number, ...keysAndTtl: (string | number)[]): Promise<number>;
}

/**
 * Does what the work does: runs a script, publishes, subscribes, and blocks for an element. A full Redis and a replica
 * answer reads, and a user may lack any of these rights.
 * @param subscriber a connection of its own, as one that has subscribed does nothing else
 */
export async function checkRedis(redis: Redis, keys: RedisKeys, subscriber?: Redis): Promise<RedisHealth> {
  if (redis.status !== "ready") return problemOfError(lastErrorOf(redis), keys);
  try {
    const info = await readInfo(redis);
    if (info !== undefined && !/redis_mode:standalone/.test(info)) return problemOf("wrong-mode");
    await selectDatabase(redis);
    await doWork(redis, keys);
    if (subscriber?.status === "ready") await subscribeOnce(subscriber, keys);
    if (info === undefined) return { state: "ok" };
    // Eviction would drop jobs and counters.
    if (!/maxmemory_policy:noeviction/.test(info)) return problemOf("wrong-eviction-policy");
    const version = Number(/redis_version:(\d+\.\d+)/.exec(info)?.[1]);
    return version < minVersion ? problemOf("too-old") : { state: "ok" };
  } catch (error) {
    return problemOfError(error, keys);
  }
}

/** Undefined: the user of REDIS_URL may not ask. */
async function readInfo(redis: Redis): Promise<string | undefined> {
  try {
    return await redis.info();
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** The driver goes on with database 0 if there is no such number. */
async function selectDatabase(redis: Redis): Promise<void> {
  const number = Number(redis.options.db ?? 0);
  if (number !== 0) await redis.select(number);
}

async function doWork(redis: Redis, keys: RedisKeys): Promise<void> {
  const own = `${keys.check}:${ownName}`;
  const scripted = redis as unknown as Partial<WithScript>;
  if (!scripted.checkWork) redis.defineCommand("checkWork", { lua: script });
  const names = scriptKeys.map((name) => `${own}:${name}`);
  await (scripted as WithScript).checkWork(names.length, ...names, minuteMs, randomUUID());
  // The script has left an element for each check, so this does not wait: all other commands of the connection would, too.
  await redis.bzpopmin(`${own}:set`, 1);
  await redis.publish(keys.events, "");
}

async function subscribeOnce(subscriber: Redis, keys: RedisKeys): Promise<void> {
  await subscriber.subscribe(keys.events);
  await subscriber.unsubscribe(keys.events);
}

/** @throws while Redis takes no write */
export async function writeCheck(redis: Redis, keys: RedisKeys): Promise<void> {
  await redis.set(keys.check, "1", "PX", minuteMs);
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

/** Undefined: the user of REDIS_URL may not ask. */
export async function describeRedis(redis: Redis): Promise<RedisFacts | undefined> {
  const info = await readInfo(redis);
  if (info === undefined) return undefined;
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
