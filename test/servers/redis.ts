import { Redis } from "ioredis";
import { findProgram, redisPrograms } from "../../scripts/find-program.ts";
import { onFreePort } from "../../scripts/scratch/ports.ts";
import { startServer } from "../../scripts/scratch/programs.ts";
import { type Acquired, reasonOf, requiresAll, Unusable } from "./acquired.ts";
import { startContainer } from "./containers.ts";
import { makeScratchFolder } from "./scratch-folder.ts";

const answerMs = 3_000;
const ready = /Ready to accept connections/;

/** Tries TEST_REDIS_URL, a container, then the PATH. */
export async function acquireRedis(env: NodeJS.ProcessEnv, opened: AsyncDisposableStack): Promise<Acquired> {
  if (env.TEST_REDIS_URL) return useGiven(env.TEST_REDIS_URL);

  const container = await startInContainer(env, opened);
  if ("url" in container) return container;
  if (env.TEST_REDIS_IMAGE && env.TEST_CONTAINERS !== "off" && requiresAll(env))
    throw new Unusable(`TEST_REDIS_IMAGE names a Redis that cannot be used: ${container.missing}.`);

  const own = await startPrivate(env, opened);
  if ("missing" in own) return { missing: `${container.missing}, and ${own.missing}` };
  return { ...own, because: container.missing };
}

/** For tests that stop and freeze their own Redis. */
export function findRedisServer(env: NodeJS.ProcessEnv): string | undefined {
  return env.TEST_REDIS_SERVER || findProgram(redisPrograms);
}

async function useGiven(url: string): Promise<Acquired> {
  try {
    await ping(url);
    return { url, from: "environment" };
  } catch (error) {
    throw new Unusable(`TEST_REDIS_URL names a Redis that cannot be used: ${reasonOf(error)}`);
  }
}

async function startInContainer(env: NodeJS.ProcessEnv, opened: AsyncDisposableStack): Promise<Acquired> {
  const image = env.TEST_REDIS_IMAGE || "redis:7-alpine";
  const started = await startContainer({ image, port: 6379, ready }, env, opened);
  if ("failure" in started) return { missing: started.failure };

  const url = `redis://${started.address}`;
  try {
    await ping(url);
    return { url, from: "testcontainers" };
  } catch (error) {
    return { missing: `the container of ${image} cannot be reached: ${reasonOf(error)}` };
  }
}

/** Keeps Redis's default: never evict. */
async function startPrivate(env: NodeJS.ProcessEnv, opened: AsyncDisposableStack): Promise<Acquired> {
  const command = findRedisServer(env);
  if (!command) return { missing: "there is no redis-server or valkey-server on the PATH" };
  try {
    const dir = makeScratchFolder("redis", opened);
    const port = await onFreePort(async (free) => {
      const args = ["--bind", "127.0.0.1", "--port", String(free), "--dir", dir, "--save", ""];
      await startServer({ command, args: [...args, "--appendonly", "no"] }, ready, opened);
      return free;
    });
    return { url: `redis://127.0.0.1:${port}`, from: "private" };
  } catch (error) {
    return { missing: reasonOf(error) };
  }
}

async function ping(url: string): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: answerMs,
    commandTimeout: answerMs,
    retryStrategy: () => null,
  });
  let cause: Error | undefined;
  redis.on("error", (error) => {
    cause = error;
  });
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    throw cause ?? error; // connect() names no cause
  } finally {
    redis.disconnect();
  }
}
