import { Redis, type RedisOptions } from "ioredis";
import { secondMs } from "../durations.ts";
import { sentinelOptions } from "./address.ts";

/** A frozen Redis would block callers forever. */
const commandTimeoutMs = 500;
/**
 * A firewall or a lost host leaves a connection silent. It is replaced when an answer takes longer. Workers wait up to
 * 10 seconds for a job.
 */
const silentMs = { fast: 3 * secondMs, patient: 20 * secondMs };
/** Keeps a firewall from forgetting an idle connection. */
const keepAliveMs = 30 * secondMs;
const reconnectDelayMs = (tries: number) => Math.min(50 * 2 ** Math.min(tries, 6), 2000);

/** Connects so that commands fail fast without Redis. */
export function connectFast(url: string): Redis {
  return connect(url, {
    commandTimeout: commandTimeoutMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    socketTimeout: silentMs.fast,
  });
}

/** Connects a BullMQ worker: its commands wait for Redis. */
export function connectPatient(url: string): Redis {
  return connect(url, {
    maxRetriesPerRequest: null,
    socketTimeout: silentMs.patient,
    reconnectOnError: isReadOnly,
  });
}

export async function waitUntilReady(redis: Redis, timeoutMs: number): Promise<void> {
  if (redis.status === "ready") return;
  await new Promise<void>((resolve) => {
    redis.once("ready", resolve);
    setTimeout(resolve, timeoutMs);
  });
}

const lastErrors = new WeakMap<Redis, Error>();

/** Returns why a connection could not be made, or broke. Undefined once it is made. */
export function lastErrorOf(redis: Redis): Error | undefined {
  return lastErrors.get(redis);
}

function connect(url: string, options: RedisOptions): Redis {
  const all = {
    ...options,
    connectTimeout: 2 * secondMs,
    keepAlive: keepAliveMs,
    retryStrategy: reconnectDelayMs,
  };
  const redis = openRedis(url, all);
  // Silences ioredis, which prints failed reconnects. The watch logs the last one.
  redis.on("error", (error) => lastErrors.set(redis, error));
  redis.on("ready", () => lastErrors.delete(redis));
  return redis;
}

/** The master became a replica, or its name now leads to one. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("READONLY");
}

function openRedis(url: string, options: RedisOptions): Redis {
  const bySentinels = sentinelOptions(url);
  if (bySentinels) return new Redis({ ...options, ...bySentinels });
  return url.includes("://") ? new Redis(url, options) : new Redis({ ...options, path: url });
}
