import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bundledFile } from "../deploy/bundled.ts";
import { loaders } from "../node-options.ts";
import { freePort, untilListening } from "./ports.ts";

/** The message is a sentence for the user. */
export class RunFailed extends Error {
  override readonly name = "RunFailed";
}

const projectRoot = join(import.meta.dirname, "../..");
const logTailLines = 15;
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Processes must not inherit the caller's settings. */
const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
export const baseEnvironment = { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, NODE_ENV: "production" };

export interface ProcessOptions {
  args?: string[];
  env?: Record<string, string>;
  ipc?: boolean;
  /** Of scripts. */
  nodeOptions?: string[];
  /** A script that imports no page: Node runs it by itself, and starts in a quarter of the CPU time. */
  isPlain?: true;
}

/**
 * Also cleans up after an error.
 * @throws RunFailed if a process ends meanwhile, or on Ctrl-C
 */
export async function withScratch<T>(work: (scratch: Scratch) => Promise<T>): Promise<T> {
  const scratch = new Scratch();
  const interrupt = (signal: string) => scratch.fail(`Interrupted by ${signal}.`);
  for (const signal of signals) process.on(signal, interrupt);
  try {
    return await Promise.race([work(scratch), scratch.failed]);
  } finally {
    await scratch.close(); // npm sends a signal twice
    for (const signal of signals) process.off(signal, interrupt);
  }
}

export class Scratch {
  readonly dir = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  readonly #children = new Set<ChildProcess>();
  readonly #closers: (() => void | Promise<void>)[] = [];
  readonly #failure = Promise.withResolvers<never>();
  #isClosing = false;

  /** Rejects if a process ends by itself. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  fail(message: string): void {
    this.#failure.reject(new RunFailed(message));
  }

  /** Starts the script from the bundle that this program runs from, if it is there; else from the sources. */
  startScript(name: string, file: string, options: ProcessOptions = {}): ChildProcess {
    const bundled = bundledFile(dirname(process.argv[1] ?? ""), file);
    const source = [...(options.isPlain ? [] : loaders), join(projectRoot, file)];
    const program = existsSync(bundled) ? [bundled] : source;
    const args = [...(options.nodeOptions ?? []), ...program, ...(options.args ?? [])];
    return this.startProgram(name, process.execPath, { ...options, args });
  }

  /** Starts a script that listens at 127.0.0.1 on the port of its environment, and waits until it does. */
  async startServer(name: string, file: string, options: ProcessOptions = {}) {
    const port = await freePort();
    const child = this.startScript(name, file, { ...options, env: { ...options.env, PORT: String(port) } });
    await untilListening(port);
    return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0 };
  }

  /** Output goes to `<name>.log`. */
  startProgram(name: string, command: string, options: ProcessOptions): ChildProcess {
    const logFile = join(this.dir, `${name}.log`);
    const log = openSync(logFile, "a");
    const child = spawn(command, options.args ?? [], {
      cwd: projectRoot, // tsx reads tsconfig.json from here
      env: { ...baseEnvironment, ...options.env },
      stdio: options.ipc ? ["ignore", log, log, "ipc"] : ["ignore", log, log],
    });
    closeSync(log);
    this.#children.add(child);
    child.on("error", (error) => this.fail(`${name} does not start: ${error.message}`));
    child.on("exit", (code, signal) => {
      const isExpected = !this.#children.delete(child) || this.#isClosing;
      if (!isExpected) this.fail(`${name} ended (${signal ?? `exit code ${code}`}):\n${tail(logFile)}`);
    });
    return child;
  }

  /** Ends a process as `kill -9` does. That is not a failure. */
  async kill(child: ChildProcess): Promise<void> {
    if (!this.#children.delete(child)) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** Runs at the end. */
  onClose(closer: () => void | Promise<void>): void {
    this.#closers.push(closer);
  }

  /** The processes have nothing worth saving. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const closer of this.#closers.toReversed()) await closer();
    const running = [...this.#children].filter((child) => child.pid !== undefined);
    const ended = running.map((child) => once(child, "exit"));
    for (const child of running) child.kill("SIGKILL");
    await Promise.all(ended);
    rmSync(this.dir, { recursive: true, force: true });
  }
}

function tail(file: string): string {
  return readFileSync(file, "utf8").trimEnd().split("\n").slice(-logTailLines).join("\n");
}
