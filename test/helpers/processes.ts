import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Redis } from "ioredis";
import { bundledFile } from "../../scripts/deploy/bundled.ts";
import { loaders, youngGeneration } from "../../scripts/node-options.ts";
import { freePort } from "../../scripts/scratch/ports.ts";
import { eventually } from "./http.ts";
import { secretKey, settingsOf, type World } from "./world.ts";

export interface Running {
  process: ChildProcess;
  output: () => string;
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** The folder of the bundle of this version, in a full run. */
export const bundle = process.env.TEST_BUNDLE;

/**
 * Runs a program of the project, from the bundle if there is one.
 * @param limit an argument of ulimit, such as `-f 2000`
 * @param cwd may be the folder of another version, with its bundle in `dist`
 */
export function run(
  [program = "", ...args]: string[],
  settings: Record<string, string>,
  limit = "",
  cwd?: string,
): Running {
  const folder = bundle && cwd && cwd !== "." ? join(cwd, "dist") : bundle;
  const bundled = folder && bundledFile(resolve(folder), program);
  const start = bundled && existsSync(bundled) ? [bundled] : [...loaders, program];
  return runNode([youngGeneration, ...start, ...args], settings, limit, cwd);
}

/** Like `run`, without loaders: for JavaScript. */
export function runNode(args: string[], settings: Record<string, string>, limit = "", cwd?: string): Running {
  const child = spawn(
    "sh",
    ["-c", `${limit && `ulimit ${limit};`} exec "$0" "$@"`, process.execPath, ...args],
    {
      cwd,
      env: { ...process.env, HOST: "127.0.0.1", SECRET_KEY: secretKey, ...settings },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  const collect = (chunk: Buffer) => {
    output += chunk;
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);

  return {
    process: child,
    output: () => output,
    async kill(signal = "SIGKILL") {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill(signal);
      await gone;
    },
  };
}

/** Resolves once the ingress listens. */
export async function runIngress(
  settings: Record<string, string>,
  limit?: string,
): Promise<Running & { url: string }> {
  const port = await freePort();
  const running = run(["ingress/main.ts"], { ...settings, PORT: String(port) }, limit);
  const url = `http://127.0.0.1:${port}`;
  await eventually(`ingress: ${running.output()}`, () =>
    fetch(`${url}/healthz`).then(
      (response) => response.ok,
      () => false,
    ),
  );
  return { ...running, url };
}

/** A process on SQLite, where both write one file; on Postgres in this process. */
export async function runSecondIngress(
  world: World,
  settings: Record<string, string> = {},
): Promise<{ url: string; close: () => Promise<void> }> {
  if (world.services.db.dialect !== "sqlite") return { ...(await world.another()), close: async () => {} };
  const running = await runIngress({
    ...settings,
    ...settingsOf(world),
  });
  return { url: running.url, close: () => running.kill("SIGTERM") };
}

/** Resolves once the worker has started. */
export async function runWorker(settings: Record<string, string>): Promise<Running> {
  const running = run(["workers/main.ts"], settings);
  await eventually("the worker", async () => running.output().includes('"started"'));
  return running;
}

export const redisServer = process.env.TEST_REDIS_SERVER;
export const redisServerMissing = redisServer
  ? false
  : "no redis-server to stop and freeze: TEST_REDIS_SERVER is not set";

/** `options` are those of redis-server. */
export async function startRedis(...options: string[]) {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "signalbox-redis-"));
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess;

  const start = async () => {
    child = spawn(
      redisServer ?? "",
      ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder, ...options],
      { stdio: "ignore" },
    );
    await eventually("Redis", () => command("ping").then(Boolean, () => false));
  };
  const command = async (...[name, ...args]: [string, ...string[]]) => {
    const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
    redis.on("error", () => {});
    try {
      await redis.connect();
      return await redis.call(name, ...args);
    } finally {
      redis.disconnect();
    }
  };
  await start();

  return {
    url,
    start,
    command,
    freeze: () => child.kill("SIGSTOP"),
    thaw: () => child.kill("SIGCONT"),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
    async close() {
      child.kill("SIGCONT");
      await this.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
