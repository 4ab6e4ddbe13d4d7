import { Redis, type RedisOptions } from "ioredis";

/** How long a command may take before it counts as failed: a frozen Redis would otherwise hold callers for ever. */
const commandTimeoutMs = 500;
const reconnectDelayMs = (tries: number) => Math.min(50 * 2 ** Math.min(tries, 6), 2000);

/** For request handling and producers: fails fast when Redis is away, reconnects in the background. */
export function connectFast(url: string): Redis {
  return connect(url, {
    commandTimeout: commandTimeoutMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
  });
}

/** For BullMQ workers, which block on Redis and wait for it as long as it takes. */
export function connectPatient(url: string): Redis {
  return connect(url, { maxRetriesPerRequest: null });
}

/** Resolves when the connection is up, or after `timeoutMs` without it. */
export async function waitUntilReady(redis: Redis, timeoutMs: number): Promise<void> {
  if (redis.status === "ready") return;
  await new Promise<void>((resolve) => {
    redis.once("ready", resolve);
    setTimeout(resolve, timeoutMs);
  });
}

function connect(url: string, options: RedisOptions): Redis {
  const all = { ...options, connectTimeout: 2000, retryStrategy: reconnectDelayMs };
  const redis = url.includes("://") ? new Redis(url, all) : new Redis({ ...all, path: url });
  // Without a listener ioredis writes every failed reconnect to stderr; the breaker reports what matters.
  redis.on("error", () => {});
  return redis;
}
