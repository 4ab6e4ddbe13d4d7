import "../shared/process/node-version.ts";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { releaseMemory } from "../shared/process/heap.ts";
import { privateRedisSocket } from "../shared/settings/private-redis.ts";
import { localUrl, waitUntilReady } from "./start/address.ts";
import { CannotStart, describe } from "./start/cannot-start.ts";
import { whileDiskIsFull } from "./start/disk.ts";
import { holdRoutineLines } from "./start/held-lines.ts";
import type { Prepared } from "./start/prepare.ts";
import { startPrivateRedis } from "./start/private-redis.ts";
import {
  giveMetricsPorts,
  type PlannedProcess,
  parseProcfile,
  planProcesses,
  usage,
} from "./start/procfile.ts";
import { repositoriesFolder } from "./start/push/repository.ts";
import { serveGit } from "./start/push/server.ts";
import { runPrepare } from "./start/run-prepare.ts";
import { removeAddresses } from "./start/running.ts";
import { printer, supervise } from "./start/supervise.ts";

// It runs as long as the others: it loads none of the program.

const ingress = "ingress";
const agent = "agent";
const readyWithinMs = 90_000;
/** Beyond SHUTDOWN_SECONDS, to close connections. */
const closingMs = 10_000;

const stopSignal = onStopSignal();
// Only the owner reads new files.
process.umask(0o077);
// Compiled code of the last start makes the processes ready a second earlier.
process.env.NODE_COMPILE_CACHE ??= "node_modules/.cache/compile";
const compiles = !existsSync(process.env.NODE_COMPILE_CACHE);
// By its own choice glibc has an arena for each thread, and keeps as much as the largest block that was freed: 50 MB.
process.env.MALLOC_ARENA_MAX ??= "2";
process.env.MALLOC_TRIM_THRESHOLD_ ??= "131072";
try {
  await start(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${describe(error)}\n`);
  process.exitCode = 1;
}
process.exit();

/** `npm start [-- name=number …]`: starts a private Redis unless REDIS_URL is set, then runs the Procfile. */
async function start(args: string[]): Promise<void> {
  const kinds = parseProcfile(readProcfile());
  if (args.some((arg) => arg === "--help" || arg === "-h")) return say(usage(kinds));
  const processes = planProcesses(kinds, args);
  refuseUnsharedPort(processes);
  const needsRedis = !process.env.REDIS_URL;
  const given = Object.keys(process.env).filter((name) => process.env[name]);
  if (needsRedis) process.env.REDIS_URL = privateRedisSocket;

  const waiting = { signal: stopSignal, say };
  const order = { listens: hasIngress(processes), given, compiles };
  // Redis first: it tells a second start in this folder, which must not change the files of the one that runs.
  const redis = needsRedis ? await whileDiskIsFull(() => startPrivateRedis(say), waiting) : undefined;
  try {
    const prepared = await whileDiskIsFull(() => runPrepare(order), waiting);
    process.env.PORT = String(prepared.port);
    if (prepared.demoFile) process.env.DEMO_FILE = prepared.demoFile;
    if (stopSignal.aborted) return;
    const equipped = equipAgents(giveMetricsPorts(processes, process.env), prepared);
    say(`Starting ${equipped.map(({ name }) => name).join(", ")}.`);
    serveDemo(prepared);
    await run(equipped, prepared);
  } finally {
    if (hasIngress(processes)) removeAddresses();
    await redis?.stop();
    say("Stopped.");
  }
}

async function run(processes: PlannedProcess[], { host, port, shutdownMs, banner }: Prepared): Promise<void> {
  const stopped = once(stopSignal, "abort");
  const isOver = new AbortController();
  const ready = hasIngress(processes)
    ? waitUntilReady(
        `${localUrl(host, port)}/readyz`,
        readyWithinMs,
        AbortSignal.any([stopSignal, isOver.signal]),
      )
    : undefined;
  const lines = holdRoutineLines(printer(processes));
  const supervised = supervise(agentsAfter(ready, processes), { print: lines.print });
  const failed = supervised.gaveUp.then((reason) => Promise.reject(new CannotStart(reason)));
  try {
    if (await Promise.race([ready, failed])) process.stdout.write(banner);
    lines.release();
    releaseMemory();
    if (!stopSignal.aborted) await Promise.race([stopped, failed]);
  } finally {
    isOver.abort();
    lines.release();
    say("Stopping.");
    await supervised.stop(shutdownMs + closingMs);
  }
}

/** An agent that starts beside the ingress would print that its connections are refused. */
function agentsAfter(ready: Promise<boolean> | undefined, processes: PlannedProcess[]): PlannedProcess[] {
  if (!ready) return processes;
  return processes.map((each) => (each.kind === agent ? { ...each, after: ready } : each));
}

/** The agents of the demo get its token. Without one there are none. */
function equipAgents(
  processes: PlannedProcess[],
  { host, port, demoAgentToken }: Prepared,
): PlannedProcess[] {
  const others = processes.filter(({ kind }) => kind !== agent);
  if (demoAgentToken === undefined) return others;
  const env = {
    ...process.env,
    BASE_URL: localUrl(host, port),
    SIGNALBOX_AGENT_TOKEN: demoAgentToken,
  };
  return [...others, ...processes.filter(({ kind }) => kind === agent).map((each) => ({ ...each, env }))];
}

/** It ends with this process. */
function serveDemo({ pushDemo }: Prepared): void {
  if (!pushDemo) return;
  const { port, secret } = pushDemo;
  serveGit({ folder: repositoriesFolder, secret }).listen(port, "127.0.0.1").unref();
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

/** Also aborts if the terminal or our reader has gone. */
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
