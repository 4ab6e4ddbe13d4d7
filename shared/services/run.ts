import { setTimeout as sleep } from "node:timers/promises";
import { CopyFailed, NeedsRoom } from "../db/database.ts";
import { checkDatabase } from "../db/health/check.ts";
import { explainProblem, findProblem } from "../db/health/problem.ts";
import { secondMs } from "../durations.ts";
import { configurationFault } from "../process/exit-codes.ts";
import { letHeapGrow, releaseMemory } from "../process/heap.ts";
import {
  checkBeforeWrites,
  checkSecretKey,
  WrongSecretKey,
  withSecretKey,
} from "../sealing/secret-key-check.ts";
import { ConfigError, readConfig } from "../settings/config.ts";
import { openLog } from "./log.ts";
import { startMetricsServer } from "./metric-server.ts";
import { openServices, type Services } from "./services.ts";

const openAgainMs = secondMs;

export interface Work {
  description: Record<string, unknown>;
  /** Ends within the configured deadline. */
  close: () => Promise<void>;
}

/**
 * A process that cannot start writes one sentence to stderr and exits with 1, or with 78 for a configuration error.
 * @param name in its log lines
 */
export async function runProcess(name: string, start: (services: Services) => Promise<Work>): Promise<void> {
  letHeapGrow();
  const services = await startServices(name);
  const { log } = services;
  const wrongKey = Promise.withResolvers<WrongSecretKey>();
  try {
    const isChecked = await checkSecretKey(services);
    const usable = isChecked ? services : checkBeforeWrites(services, wrongKey.resolve);
    await logDatabaseProblem(services);
    const { metricsPort } = services.config;
    const metricsServer =
      metricsPort === undefined ? undefined : await startMetricsServer(services, metricsPort);
    const work = await start(usable);
    services.processes.report(name);
    log.info({ ...work.description, ...(metricsServer && { metrics: metricsServer.url }) }, "started");
    releaseMemory();

    const failure = await Promise.race([untilStopped(), wrongKey.promise, untilAborted(services.syncFailed)]);
    log.info("stopping");
    await work.close();
    metricsServer?.close();
    if (failure) throw failure;
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    log.fatal({ err: error }, "stopped by an error");
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
  }
  await services.close();
  log.info("stopped");
  services.closeLog();
  process.exit();
}

async function startServices(name: string): Promise<Services & { closeLog: () => void }> {
  try {
    const config = await withSecretKey(readConfig(process.env));
    const { log, close: closeLog } = openLog({ level: config.logLevel, process: name });
    process.on("unhandledRejection", (error) => log.error({ err: error }, "unhandled rejection"));
    return { ...(await openPatiently({ config, log, process: name })), closeLog };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${error instanceof ConfigError ? "" : `${name} cannot start: `}${message}\n`);
    process.exit(exitCodeOf(error));
  }
}

/** SQLite cannot be opened while the disk is full. Postgres opens its connections later. */
async function openPatiently(options: Parameters<typeof openServices>[0]): Promise<Services> {
  for (;;) {
    try {
      return openServices(options);
    } catch (error) {
      if (error instanceof CopyFailed) throw error;
      const problem = findProblem(error, options.config.databaseUrl);
      if (!problem) throw error;
      if (problem.state === "damaged") throw new ConfigError(explainProblem(problem)); // to try again would not help
      const text = `the database cannot be opened, and is tried again every second. ${explainProblem(problem)}`;
      options.log.warn({ err: error }, text);
      await sleep(openAgainMs);
      if (process.connected === false) throw error; // npm start was killed
    }
  }
}

/** Requests are answered 503 until the database is well. */
async function logDatabaseProblem({ db, config, log }: Services): Promise<void> {
  const { migrations, fault } = await checkDatabase(db);
  const problem = findProblem(fault, config.databaseUrl);
  if (problem) log.error({ state: problem.state }, explainProblem(problem));
  if (migrations === "pending") log.error("the database is not migrated: run npm run migrate");
}

const listenFaults = new Set(["EADDRINUSE", "EADDRNOTAVAIL", "EACCES"]);

/** `npm start` gives up for faults of configuration only: others may pass. */
function exitCodeOf(error: unknown): number {
  const isFault =
    error instanceof ConfigError ||
    error instanceof WrongSecretKey ||
    error instanceof NeedsRoom ||
    listenFaults.has((error as NodeJS.ErrnoException)?.code ?? "");
  return isFault ? configurationFault : 1;
}

function untilAborted(signal: AbortSignal): Promise<Error> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    signal.addEventListener("abort", () => resolve(signal.reason));
  });
}

/**
 * Ctrl-C may signal a process twice, so later signals are ignored. The channel of `npm start` disconnects if it is
 * killed.
 */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    process.on("SIGTERM", () => resolve());
    process.on("SIGINT", () => resolve());
    process.on("disconnect", () => resolve());
  });
}
