import "../shared/runtime/node-version.ts";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { migrate } from "../shared/db/migrate.ts";
import { patterns } from "../shared/paths.ts";
import { type Config, readConfig } from "../shared/runtime/config.ts";
import { createLog } from "../shared/runtime/log.ts";
import { checkSecretKey } from "../shared/runtime/secret-key-check.ts";
import { openServices } from "../shared/runtime/services.ts";
import { privateRedisSocket } from "../shared/runtime/settings.ts";
import { type Demo, findOrMakeDemo } from "./seed.ts";
import { claimPort, localUrl, waitUntilReady } from "./start/address.ts";
import { banner } from "./start/banner.ts";
import { CannotStart, describe } from "./start/cannot-start.ts";
import { startPrivateRedis } from "./start/private-redis.ts";
import { type PlannedProcess, parseProcfile, planProcesses } from "./start/procfile.ts";
import { supervise } from "./start/supervise.ts";

const ingress = "ingress";
const readyWithinMs = 90_000;
const settleMs = 500;
/** A process needs this long beyond SHUTDOWN_SECONDS to close its connections. */
const closingMs = 10_000;

const stopSignal = onStopSignal();
// Files made from here on, by children too, are readable by their owner only.
process.umask(0o077);
try {
  await start(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${describe(error)}\n`);
  process.exitCode = 1;
}
process.exit();

/**
 * `npm start [-- name=number …]`: starts a private Redis unless REDIS_URL is set, migrates the database, makes a demo
 * on the first start, and then runs the processes of the Procfile.
 */
async function start(args: string[]): Promise<void> {
  const processes = planProcesses(parseProcfile(readProcfile()), args);
  const given = new Set(Object.keys(process.env).filter((name) => process.env[name]));
  const { host, port } = readConfig(process.env);
  refuseUnsharedPort(processes);
  if (hasIngress(processes)) process.env.PORT = String(await claimPort(host, port));
  prepareDataFolder();

  const redis = given.has("REDIS_URL") ? undefined : await startPrivateRedis(say);
  if (redis) process.env.REDIS_URL = privateRedisSocket;
  try {
    const config = readConfig(process.env);
    await updateDatabase(config);
    const demo = await prepareDemo(config);
    if (stopSignal.aborted) return;
    say(`Starting ${processes.map(({ name }) => name).join(", ")}.`);
    await run(processes, config, () => banner(config, demo, given));
  } finally {
    await redis?.stop();
    say("Stopped.");
  }
}

/** Runs the processes until a stop signal comes or one of them cannot start. */
async function run(processes: PlannedProcess[], config: Config, whenReady: () => string): Promise<void> {
  const supervised = supervise(processes);
  const failed = supervised.gaveUp.then((reason) => Promise.reject(new CannotStart(reason)));
  const stopped = once(stopSignal, "abort");
  const isOver = new AbortController();
  try {
    const ready = untilReady(processes, config, AbortSignal.any([stopSignal, isOver.signal]));
    if (await Promise.race([ready, failed])) {
      await sleep(settleMs); // the banner comes after the first log lines
      process.stdout.write(whenReady());
    }
    if (!stopSignal.aborted) await Promise.race([stopped, failed]);
  } finally {
    isOver.abort();
    say("Stopping.");
    await supervised.stop(config.shutdownMs + closingMs);
  }
}

/** @returns false if a stop signal came first */
function untilReady(processes: PlannedProcess[], config: Config, signal: AbortSignal): Promise<boolean> {
  if (!hasIngress(processes)) return Promise.resolve(false);
  const url = localUrl(config.host, config.port) + patterns.readyz;
  return waitUntilReady(url, readyWithinMs, signal);
}

function hasIngress(processes: PlannedProcess[]): boolean {
  return processes.some(({ kind }) => kind === ingress);
}

function readProcfile(): string {
  try {
    return readFileSync("Procfile", "utf8");
  } catch {
    throw new CannotStart("There is no Procfile here: start in the folder of the project.");
  }
}

function refuseUnsharedPort(processes: PlannedProcess[]): void {
  const count = processes.filter(({ kind }) => kind === ingress).length;
  if (count > 1 && process.platform !== "linux") {
    throw new CannotStart(`${ingress}=${count}: only on Linux can several processes share a port.`);
  }
}

function prepareDataFolder(): void {
  mkdirSync("data", { recursive: true });
  chmodSync("data", 0o700);
}

async function updateDatabase({ databaseUrl }: Config): Promise<void> {
  say("Bringing the database up to date.");
  try {
    await migrate(databaseUrl);
  } catch (error) {
    throw new CannotStart(`The database could not be brought up to date: ${describe(error)}`);
  }
}

async function prepareDemo(config: Config): Promise<Demo | undefined> {
  const log = createLog({ level: "silent", process: "start" }, { write: () => {} });
  const services = openServices({ config, log });
  try {
    await checkSecretKey(services);
    return await findOrMakeDemo(services);
  } finally {
    await services.close();
  }
}

/** Aborts on Ctrl-C, SIGTERM, a closed terminal, or when the reader of our output has gone. */
function onStopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stop.abort());
  process.stdout.on("error", () => stop.abort());
  process.stderr.on("error", () => stop.abort());
  return stop.signal;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
