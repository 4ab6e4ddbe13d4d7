import { randomUUID } from "node:crypto";
import { startIngress } from "../../ingress/server.ts";
import { type Config, readConfig } from "../../shared/runtime/config.ts";
import { createLog } from "../../shared/runtime/log.ts";
import { openServices, type Services } from "../../shared/runtime/services.ts";
import { startWorkers } from "../../workers/run.ts";
import { type TestClock, testClock } from "./clock.ts";
import type { TestDatabase } from "./databases.ts";

/** An installation of its own for a test: database, Redis keys, clock, and what it logged. */
export interface World {
  services: Services;
  config: Config;
  clock: TestClock;
  /** Where its ingress listens. */
  url: string;
  /** The lines logged so far. */
  logged: string[];
  startWorkers: () => Promise<void>;
  /** Another process of the same installation: services and ingress of its own. */
  another: () => Promise<{ services: Services; url: string }>;
  close: () => Promise<void>;
}

export const secretKey = "a key for tests that is at least 32 characters";

/**
 * The tests' Redis without a time-out for commands: on a busy machine 500 ms pass easily, and limits would
 * be counted in memory. ioredis takes options from the query; only a number is a time-out.
 */
export function patientRedisUrl(): string | undefined {
  const url = process.env.TEST_REDIS_URL;
  return url && `${url}${url.includes("?") ? "&" : "?"}commandTimeout=none`;
}

/** Start an installation. Settings are environment variables, as they are outside. */
export async function startWorld(
  database: TestDatabase,
  settings: Record<string, string> = {},
): Promise<World> {
  const { url: databaseUrl, drop } = await database.create();
  const clock = testClock();
  const logged: string[] = [];
  const closers: (() => Promise<void>)[] = [];
  const environment = {
    HOST: "127.0.0.1",
    DATABASE_URL: databaseUrl,
    REDIS_URL: patientRedisUrl(),
    REDIS_PREFIX: `test-${randomUUID()}`,
    SECRET_KEY: secretKey,
    SHUTDOWN_SECONDS: "1",
    LOG_LEVEL: "debug",
    ...settings,
  };

  const open = async () => {
    // A free port, unless the test has picked one because its public address has to be the real one.
    const config = { ...readConfig(environment), port: Number(settings.PORT ?? 0) };
    const log = createLog(
      { level: config.logLevel, process: "test" },
      { write: (line) => void logged.push(line) },
    );
    const services = openServices({ config, log, clock });
    const ingress = await startIngress(services);
    closers.unshift(async () => {
      await ingress.close();
      await services.close();
    });
    return { services, url: ingress.url };
  };

  const first = await open();
  return {
    ...first,
    config: first.services.config,
    clock,
    logged,
    async startWorkers() {
      const workers = await startWorkers(first.services);
      closers.unshift(() => workers.close());
    },
    another: open,
    async close() {
      for (const close of closers) await close();
      await drop();
    },
  };
}
