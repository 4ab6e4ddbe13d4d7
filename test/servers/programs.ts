import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";

const startMs = 30_000;
const patienceMs = 5_000;
const keptLines = 5;

export interface Program {
  command: string;
  args: string[];
  /** Ends it. Default: SIGTERM. */
  stopSignal?: NodeJS.Signals;
  options?: { cwd?: string; env?: NodeJS.ProcessEnv; uid?: number; gid?: number };
}

/** The first of these programs that a folder of the PATH, or of `folders`, has. */
export function findProgram(names: string[], folders: string[] = []): string | undefined {
  const path = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const places = names.flatMap((name) => [...path, ...folders].map((folder) => join(folder, name)));
  return places.find(isExecutable);
}

/** True for an executable file. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Runs a program to its end. Throws what it said last when it fails. */
export async function runProgram(program: Program, opened: AsyncDisposableStack): Promise<void> {
  const { code, lastLines } = await launch(program, opened).ended;
  if (code !== 0) throw new Error(`${program.command} failed: ${lastLines}`);
}

/** Starts a server and waits until it prints that it is `ready`. It ends when `opened` is disposed of. */
export async function startServer(program: Program, ready: RegExp, opened: AsyncDisposableStack) {
  const isReady = Promise.withResolvers<void>();
  const onLine = (line: string) => ready.test(line) && isReady.resolve();
  const { child, ended } = launch(program, opened, onLine);
  const timer = setTimeout(() => void endGroup(child, "SIGKILL"), startMs);
  ended.then(
    ({ lastLines }) => isReady.reject(new Error(`${program.command} did not start: ${lastLines}`)),
    isReady.reject,
  );
  await isReady.promise.finally(() => clearTimeout(timer));
}

/**
 * Runs in its own process group, so that Ctrl-C reaches only us and the tests end before their servers. The
 * closer is registered before the start, so that no process is left behind.
 */
function launch(program: Program, opened: AsyncDisposableStack, onLine: (line: string) => void = () => {}) {
  let started: ChildProcess | undefined;
  opened.defer(() => started && endGroup(started, program.stopSignal));
  const { command, args, options } = program;
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"], detached: true });
  started = child;

  const lines: string[] = [];
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on("line", (line) => {
      lines.push(line);
      if (lines.length > keptLines) lines.shift();
      onLine(line);
    });
  }
  const ended = once(child, "close").then(([code]) => ({ code, lastLines: lines.join("\n") }));
  ended.catch(() => {}); // the caller handles it
  return { child, ended };
}

/** Ends a process, by force if it takes too long, and then whatever else is left of its group. */
export async function endGroup(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.pid === undefined) return; // never started
  const { pid } = child;
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    const timer = setTimeout(() => killGroup(pid), patienceMs);
    child.kill(signal);
    await exited;
    clearTimeout(timer);
  }
  killGroup(pid);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // the group has already ended
  }
}
