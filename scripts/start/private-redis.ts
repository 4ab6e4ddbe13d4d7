import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connectPatient } from "../../shared/redis/connect.ts";
import { privateRedisSocket } from "../../shared/settings/private-redis.ts";
import { findProgram, redisPrograms } from "../find-program.ts";
import { CannotStart } from "./cannot-start.ts";

export interface PrivateRedis {
  /** Call after its users have closed. */
  stop(): Promise<void>;
}

type Redis = ReturnType<typeof connectPatient>;

const folder = "data/redis";
const logFile = join(folder, "redis.log");
const startWithinMs = 20_000;
const stopWithinMs = 10_000;
/** Reveals us to a second `npm start`, which refuses to start. */
const owner = "npm-start";

/** Relative paths: systems limit a socket path's length. */
const settings = [
  ...["--port", "0", "--unixsocket", "../redis.sock", "--unixsocketperm", "700"],
  ...["--maxmemory-policy", "noeviction", "--appendonly", "yes", "--appendfsync", "everysec", "--save", ""],
  ...["--daemonize", "no", "--loglevel", "warning"],
];

/**
 * Takes over the Redis of a killed `npm start`, and restarts one that ends.
 * @throws CannotStart
 */
export async function startPrivateRedis(say: (line: string) => void): Promise<PrivateRedis> {
  const program = requireProgram();
  let child: ChildProcess | undefined;
  let processId: number | undefined;
  let wasUp = false;
  let isStopping = false;

  const launch = () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    rmSync(privateRedisSocket, { force: true });
    const log = openSync(logFile, "w", 0o600);
    // Own process group: Ctrl-C must not end it before its users.
    const launched = spawn(program, settings, { cwd: folder, stdio: ["ignore", log, log], detached: true });
    closeSync(log);
    launched.on("error", () => {}); // its "close" follows
    launched.on("close", () => {
      child = undefined;
    });
    child = launched;
    return launched;
  };

  const redis = connectPatient(privateRedisSocket);
  const whenUp = new Promise<void>((resolve, reject) => {
    redis.on("error", (error: NodeJS.ErrnoException) => {
      const isGone = error.code === "ENOENT" || error.code === "ECONNREFUSED";
      if (!isGone || isStopping || child) return;
      say(wasUp ? "The private Redis has ended; starting it again." : "Starting a private Redis.");
      launch().on("close", () => reject(new CannotStart(describeFailedStart(program))));
    });
    redis.on("close", () => {
      processId = undefined;
    });
    redis.on("ready", async () => {
      try {
        if (!wasUp) await refuseSecond(redis);
        if (!wasUp && !child) say("Taking over the private Redis of an earlier start.");
        processId = await takeOver(redis);
        wasUp = true;
        resolve();
      } catch (error) {
        reject(error); // ignored if it was up before
      }
    });
  });

  const stop = async () => {
    isStopping = true;
    const pid = child?.pid ?? processId;
    if (pid) await end(pid);
    redis.disconnect();
  };

  try {
    await Promise.race([whenUp, timeOut(program)]);
  } catch (error) {
    isStopping = true;
    child?.kill();
    redis.disconnect();
    throw error;
  }
  return { stop };
}

function requireProgram(): string {
  const program = findProgram(redisPrograms);
  if (program) return program;
  throw new CannotStart(
    `There is no ${redisPrograms.join(" or ")} on the PATH. Get one with: sh scripts/setup\nOr name a Redis that runs: REDIS_URL=redis://… npm start`,
  );
}

/** @throws CannotStart if another `npm start` owns it */
async function refuseSecond(redis: Redis): Promise<void> {
  const connections = String(await redis.client("LIST"));
  if (!connections.includes(` name=${owner} `)) return;
  throw new CannotStart("npm start runs in this folder already. Stop it first (Ctrl-C in its terminal).");
}

/** @returns the process id of this Redis */
async function takeOver(redis: Redis): Promise<number> {
  await redis.client("SETNAME", owner);
  return Number(/process_id:(\d+)/.exec(await redis.info("server"))?.[1]);
}

async function timeOut(program: string): Promise<never> {
  await sleep(startWithinMs, undefined, { ref: false });
  throw new CannotStart(describeFailedStart(program));
}

function describeFailedStart(program: string): string {
  const lines = readIfThere(logFile).trim().split("\n").slice(-5);
  return [
    `The private Redis (${program}) does not start. The last lines of ${logFile}:`,
    ...lines.map((line) => `  ${line}`),
    `If its data is damaged, delete ${folder}: accepted webhooks are in the database, and none is lost.`,
  ].join("\n");
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

async function end(pid: number): Promise<void> {
  const deadline = Date.now() + stopWithinMs;
  signal(pid, "SIGTERM");
  while (signal(pid, 0)) {
    if (Date.now() > deadline) signal(pid, "SIGKILL");
    await sleep(20);
  }
  rmSync(privateRedisSocket, { force: true });
}

/** @returns true if the process exists */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
