import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { startIngress } from "../../ingress/server.ts";
import { createPasswords } from "../../shared/crypto/passwords.ts";
import { openDueEvents } from "../../shared/process/due.ts";
import { createLog } from "../../shared/services/log.ts";
import { openServices, type Services } from "../../shared/services/services.ts";
import { type Config, readConfig } from "../../shared/settings/config.ts";
import { startWorkers } from "../../workers/run.ts";
import { type TestClock, testClock } from "./clock.ts";
import { dataFolder, type TestDatabase } from "./databases.ts";

/** A `transaction` of the database that waits until it is released. */
export function holdTransactions({ db }: Services) {
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const transaction: typeof db.transaction = async (work) => {
    begun.resolve();
    await over.promise;
    return db.transaction(work);
  };
  return { transaction, begun: begun.promise, release: () => over.resolve() };
}

/** One test's installation. */
export interface World {
  services: Services;
  config: Config;
  clock: TestClock;
  url: string;
  logged: string[];
  startWorkers: () => Promise<void>;
  /** Starts another process of this installation. */
  another: () => Promise<{ services: Services; url: string }>;
  close: () => Promise<void>;
}

/** A hash of theirs takes 2 ms of CPU time; one of the program's cost takes 180. */
export const cheapPasswords = () => createPasswords({ N: 1024, r: 8, p: 1 });

export const secretKey = "a key for tests that is at least 32 characters";

/**
 * Removes the command time-out: on a busy machine 500 ms pass easily, and limits fall back to
 * memory. ioredis reads options from the query; only a number is a time-out.
 */
export function patientRedisUrl(): string | undefined {
  const url = process.env.TEST_REDIS_URL;
  return url && `${url}${url.includes("?") ? "&" : "?"}commandTimeout=none`;
}

/** The settings that other processes of this installation need. */
export function settingsOf({ config }: Pick<World, "config">) {
  const { databaseUrl, blobUrl, redisUrl, redisPrefix } = config;
  return { DATABASE_URL: databaseUrl, BLOB_URL: blobUrl, REDIS_URL: redisUrl, REDIS_PREFIX: redisPrefix };
}

/** `settings` are environment variables. */
export async function startWorld(
  database: TestDatabase,
  settings: Record<string, string> = {},
  passwords = cheapPasswords,
): Promise<World> {
  const { url: databaseUrl, drop } = await database.create();
  const clock = testClock();
  const logged: string[] = [];
  const closers: (() => Promise<void>)[] = [];
  const blobFolder = join(dataFolder, `signalbox-blobs-${randomUUID()}`); // nobody makes it before the first blob
  const environment = {
    HOST: "127.0.0.1",
    DATABASE_URL: databaseUrl,
    BLOB_URL: `file:${blobFolder}`,
    REDIS_URL: patientRedisUrl(),
    REDIS_PREFIX: `test-${randomUUID()}`,
    SECRET_KEY: secretKey,
    SHUTDOWN_SECONDS: "1",
    LOG_LEVEL: "debug",
    ...settings,
  };

  const open = async () => {
    // A test picks the port if its public address must be real.
    const config = { ...readConfig(environment), port: Number(settings.PORT ?? 0) };
    const log = createLog(
      { level: config.logLevel, process: "test" },
      { write: (line) => void logged.push(line) },
    );
    const services = openServices({
      config,
      log,
      clock,
      process: "test",
      passwords: passwords(),
    });
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
      // They listen to nobody: else they would do what the ingress does, at the same time.
      const workers = await startWorkers({ ...first.services, due: openDueEvents() });
      closers.unshift(() => workers.close());
    },
    another: open,
    async close() {
      for (const close of closers) await close();
      await drop();
      await rm(blobFolder, { recursive: true, force: true });
    },
  };
}
