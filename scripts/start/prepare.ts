import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { migrate } from "../../shared/db/migrate.ts";
import { setOptionsOfRunning } from "../../shared/process/heap.ts";
import { checkSecretKey, withSecretKey } from "../../shared/sealing/secret-key-check.ts";
import { type Config, readConfig } from "../../shared/settings/config.ts";
import { threads } from "../deploy/bundled.ts";
import { type Demo, findOrMakeDemo } from "../seed.ts";
import { withServices } from "../with-services.ts";
import { requireFreePort } from "./address.ts";
import { banner, demoCommands, demoEnvFile, demoTextFile, demoVariables } from "./banner.ts";
import { describe } from "./cannot-start.ts";
import { type PushDemo, preparePushDemo } from "./push/prepare.ts";
import { type Addresses, writeAddresses } from "./running.ts";

// Takes one message from its parent, and answers with one.

export interface Order {
  /** The port must be free. */
  listens: boolean;
  /** Names of settings set by hand. */
  given: string[];
  /** No former start has left compiled code. */
  compiles: boolean;
}

export interface Prepared {
  host: string;
  /** A free one if the setting is 0. */
  port: number;
  shutdownMs: number;
  /** Registers agents of the demo's queue. Undefined: there is no demo. */
  demoAgentToken: string | undefined;
  /** Has the password of the demo. Undefined: there is no demo. */
  demoFile: string | undefined;
  /** The git server of the demo. */
  pushDemo: Pick<PushDemo, "port" | "secret"> | undefined;
  /** Printed once everything runs. */
  banner: string;
}

// Ctrl-C reaches all processes; the parent decides.
process.on("SIGINT", () => {});
const [order] = (await once(process, "message")) as [Order];
const answer = await prepare(order).then(
  (prepared) => ({ prepared }),
  (error) => ({ problem: describe(error) }),
);
process.send?.(answer, () => process.exit());

async function prepare({ listens, given, compiles }: Order): Promise<Prepared> {
  if (compiles) await compileProgram();
  const { host, port: wanted } = readConfig(process.env);
  const port = listens ? await requireFreePort(host, wanted) : wanted;
  process.env.PORT = String(port); // the public addresses default to it
  prepareDataFolder();
  const config = readConfig(process.env);
  await updateDatabase(config);
  const { demo, push } = await prepareDemo(config, await choosePort(port + 1));
  const commands = demo ? demoCommands(config, demo, { push, given: new Set(given) }) : "";
  if (demo) {
    keepForOwner(demoTextFile, commands);
    keepForOwner(demoEnvFile, demoVariables(config, demo));
  }
  if (listens) writeAddresses(addressesOf(config), process.ppid);
  await compileThreads(); // the last work here: other modules are compiled under the usual options
  return {
    host,
    port,
    shutdownMs: config.drainMs + config.shutdownMs,
    demoAgentToken: demo?.agentToken,
    demoFile: demo && demoTextFile,
    pushDemo: typeof push === "string" ? undefined : push,
    banner: banner(config, demo, commands),
  };
}

/** Leaves compiled code for the processes: each that had to compile for itself would keep 10 MB more. */
async function compileProgram(): Promise<void> {
  process.stdout.write("Compiling the program, at the first start only.\n");
  await Promise.all([
    import("../../ingress/server.ts"),
    import("../../workers/run.ts"),
    import("../agent/run.ts"),
  ]);
}

/**
 * A thread compiles for itself, and then keeps 20 to 30 MB more. These leave their code to others when this process ends.
 * If the code is there already, that takes a quarter of a second.
 */
async function compileThreads(): Promise<void> {
  setOptionsOfRunning();
  await Promise.all(threads.map((module) => untilLoaded(new URL(`../../${module}`, import.meta.url))));
}

/** Loads the module in a thread. Resolves, too, if it cannot: the process that needs it will say why. */
function untilLoaded(module: URL): Promise<void> {
  return new Promise((resolve) => {
    const thread = new Worker(module, { execArgv: [] });
    thread.on("error", () => {});
    thread.once("exit", () => resolve());
  });
}

function addressesOf({ port, baseUrl, authUrl, webhookUrl, appUrl }: Config): Addresses {
  const urls = { BASE_URL: baseUrl, AUTH_URL: authUrl, WEBHOOK_URL: webhookUrl, APP_URL: appUrl };
  return { ...urls, PORT: String(port) };
}

function prepareDataFolder(): void {
  mkdirSync("data", { recursive: true });
  chmodSync("data", 0o700);
}

function keepForOwner(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 });
  chmodSync(file, 0o600); // an existing file keeps its mode
}

async function updateDatabase({ databaseUrl }: Config): Promise<void> {
  process.stdout.write("Bringing the database up to date.\n");
  await migrate(databaseUrl, (line) => process.stdout.write(`  ${line}\n`));
}

interface PreparedDemo {
  demo?: Demo | undefined;
  /** A text says why there is none. */
  push?: PushDemo | string | undefined;
}

async function prepareDemo(config: Config, gitPort: number): Promise<PreparedDemo> {
  return withServices(await withSecretKey(config), async (services) => {
    await checkSecretKey(services);
    const demo = await findOrMakeDemo(services);
    return { demo, push: demo && (await preparePushDemo(services, demo, gitPort)) };
  });
}

/** The wanted port, so that clones of the demo keep their address, or else a free one. */
async function choosePort(wanted: number): Promise<number> {
  const host = "127.0.0.1";
  return requireFreePort(host, wanted).catch(() => requireFreePort(host, 0));
}
