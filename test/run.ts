import "../shared/process/node-version.ts";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { loaders } from "../scripts/node-options.ts";
import { endGroup } from "../scripts/scratch/programs.ts";
import { type Acquired, reasonOf, requiresAll, say, Unusable } from "./servers/acquired.ts";
import { type FoundChromium, findChromium } from "./servers/chromium.ts";
import { describeFailures, readFailures } from "./servers/failures-reporter.ts";
import { acquirePostgres } from "./servers/postgres.ts";
import { acquireRedis, findRedisServer } from "./servers/redis.ts";
import { findMemoryFolder, makeScratchFolder } from "./servers/scratch-folder.ts";
import { selectTests } from "./servers/select-tests.ts";
import { divideTests, haveEnded, queueTests, recordedDurations } from "./servers/test-queue.ts";

/**
 * `npm test [-- --all | folder | file | pattern | --test-option …]` starts the servers, runs the
 * tests and stops the servers, also on failure or a signal. See test/README.md.
 */
const opened = new AsyncDisposableStack();
const reports = makeScratchFolder("reports", opened);
const failuresFile = join(reports, "failures");
const durations = join(reports, "durations.json");
/** Some wait while others work: five processes leave 5 % of two cores idle. */
const processesAtOnce = 6;
/** With it V8 collects the whole heap less often, which saves a twentieth of the quick run's CPU time. */
const largeHeap = "--initial-heap-size=400";
/** The largest artifacts and logs of tests that run at once take a tenth of it. */
const dataBytes = 4 * 1024 ** 3;
const writesDurations = process.env.TEST_DURATIONS === "write";
const testOptions = [
  "--test-reporter=spec",
  "--test-reporter-destination=stdout",
  "--test-reporter=./test/servers/failures-reporter.ts",
  `--test-reporter-destination=${failuresFile}`,
  ...(writesDurations
    ? ["--test-reporter=./test/servers/durations-reporter.ts", `--test-reporter-destination=${durations}`]
    : []),
  `--test-concurrency=${processesAtOnce}`,
  "--test-timeout=600000",
  // Ends files whose timed-out tests leave connections open.
  "--test-force-exit",
];

let finishing: Promise<never> | undefined;

/** The first call decides the exit code. */
function finish(exitCode: number): Promise<never> {
  finishing ??= opened
    .disposeAsync()
    .catch((error) => say(`Not everything was released: ${reasonOf(error)}`))
    .then(() => process.exit(exitCode));
  return finishing;
}

/** Programs that tests start more than once, besides those of the image. */
const bundled = ["scripts/prove/main.ts", "scripts/bench/main.ts", "scripts/login.ts"];
/** Absolute: some programs run in another folder. */
const compileCache = process.env.NODE_COMPILE_CACHE ?? resolve("node_modules/.cache/compile");

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => void finish(128 + constants.signals[signal]));
}

try {
  const { options, files, isQuick } = selectTests(process.argv.slice(2));
  const folder = makeScratchFolder("queues", opened);
  const areMany = files.length > processesAtOnce;
  const isQueued = areMany && options.length === 0;
  const split = isQueued ? queueTests : divideTests;
  const started = areMany ? split(files, processesAtOnce, folder) : files;
  const compiling = areMany && compileShared();
  const servers = await acquireServers(process.env);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...servers,
    TEST_DATA_FOLDER: process.env.TEST_DATA_FOLDER ?? makeDataFolder(),
    TEST_QUICK: isQuick ? "1" : undefined,
    // Processes start from it with a third of the CPU time. Few files start too few to gain.
    TEST_BUNDLE: process.env.TEST_BUNDLE ?? (areMany && !isQuick ? makeBundle() : undefined),
    // Compiles shared imports once.
    NODE_COMPILE_CACHE: compileCache,
  };
  await compiling;
  const exitCode = await runTests([...testOptions, ...options], started, env);
  if (isQueued && !finishing && !haveEnded(started)) {
    sayFailures();
    throw new Unusable("A process ended before it had run its files, so not all tests were run.");
  }
  if (exitCode === 0 && writesDurations) copyFileSync(durations, recordedDurations);
  if (areMany && exitCode !== 0 && !finishing) sayFailures();
  await finish(exitCode);
} catch (error) {
  if (!finishing) say(error instanceof Unusable ? error.message : String(error));
  await finish(1);
}

/** In memory, if there is room: syncs of SQLite take no time there. */
function makeDataFolder(): string {
  return makeScratchFolder("data", opened, findMemoryFolder(dataBytes));
}

/**
 * Lets one process compile what most tests import, while servers start. In a fresh clone, processes that start at once
 * would each compile all of it.
 */
async function compileShared(): Promise<void> {
  if (existsSync(compileCache)) return;
  const imports = ["world", "organization", "pages", "builds", "api", "agent"]
    .map((name) => `import ${JSON.stringify(pathToFileURL(resolve(`test/helpers/${name}.ts`)))};`)
    .join("");
  const program = [largeHeap, ...loaders, "--input-type=module", "--eval", imports];
  const compiler = spawn(process.execPath, program, {
    stdio: "ignore",
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  });
  opened.defer(() => void compiler.kill());
  await once(compiler, "exit");
}

/** In the project: modules look for their packages there. It stays, for who reads a stack. */
function makeBundle(): string {
  const folder = resolve("dist/test");
  rmSync(folder, { recursive: true, force: true });
  execFileSync(process.execPath, ["scripts/deploy/bundle.ts", folder, ...bundled], { stdio: "inherit" });
  return folder;
}

function sayFailures(): void {
  const failures = readFailures(failuresFile);
  if (failures.length > 0) say(describeFailures(failures));
}

/** Sets each server's address, or the reason why it is missing. */
async function acquireServers(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const redis = await acquireRedis(env, opened);
  if (finishing) return finishing; // interrupted
  const database = await acquirePostgres(env, opened);
  if (finishing) return finishing;
  const program = findRedisServer(env);
  const chromium = findChromium(env);
  const found: NodeJS.ProcessEnv = {
    ...environmentOf("TEST_REDIS", "Redis", redis),
    ...environmentOf("TEST_DATABASE", "Postgres", database),
    TEST_REDIS_SERVER: program,
    TEST_REDIS_SERVER_MISSING: program ? undefined : "there is no redis-server or valkey-server on the PATH",
    ...browserEnvironment(chromium),
  };

  const missing = Object.keys(found).filter((name) => name.endsWith("_MISSING") && found[name]);
  if (missing.length > 0 && requiresAll(env))
    throw new Unusable("TEST_REQUIRE=all, so the tests are not run.");
  return found;
}

function environmentOf(prefix: string, name: string, server: Acquired): NodeJS.ProcessEnv {
  if ("missing" in server) {
    say(`${name}: none, tests that need it are skipped: ${server.missing}.`);
    return {
      [`${prefix}_URL`]: undefined,
      [`${prefix}_FROM`]: undefined,
      [`${prefix}_MISSING`]: server.missing,
    };
  }
  const because = server.because ? `, because ${server.because}` : "";
  say(`${name}: ${server.from}, ${hostOf(server.url)}${because}.`);
  return { [`${prefix}_URL`]: server.url, [`${prefix}_FROM`]: server.from, [`${prefix}_MISSING`]: undefined };
}

function browserEnvironment(found: FoundChromium): NodeJS.ProcessEnv {
  if ("missing" in found) {
    say(`Chromium: none, tests that need it are skipped: ${found.missing}.`);
    return { TEST_CHROMIUM: undefined, TEST_CHROMIUM_MISSING: found.missing };
  }
  say(`Chromium: ${found.program}.`);
  return { TEST_CHROMIUM: found.program, TEST_CHROMIUM_MISSING: undefined };
}

/** Hides the address: it may contain a password. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "a socket";
}

/** Ends the whole process group. */
async function runTests(options: string[], files: string[], env: NodeJS.ProcessEnv): Promise<number> {
  let started: ChildProcess | undefined;
  opened.defer(() => started && endGroup(started));
  const node = [largeHeap, ...loaders, "--import", resolve("test/servers/runner-hooks.ts")];
  const tests = spawn(process.execPath, [...node, "--test", ...options, ...files], {
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
    env,
  });
  started = tests;
  const [exitCode] = await once(tests, "exit");
  return exitCode ?? 1;
}
