import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const startMs = 30_000;
const patienceMs = 5_000;
const keptLines = 5;

export interface Program {
  command: string;
  args: string[];
  /** Default: SIGTERM. */
  stopSignal?: NodeJS.Signals;
  options?: { cwd?: string; env?: NodeJS.ProcessEnv; uid?: number; gid?: number };
}

/** @throws Error with the last output */
export async function runProgram(program: Program, opened: AsyncDisposableStack): Promise<void> {
  const { code, lastLines } = await launch(program, opened).ended;
  if (code !== 0) throw new Error(`${program.command} failed: ${lastLines}`);
}

/** Resolves when the output matches `ready`. */
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
 * Its own process group keeps Ctrl-C from ending servers before tests. The closer comes first, so
 * no process is left behind.
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
  ended.catch(() => {});
  return { child, ended };
}

/** Kills a slow process, then the rest of its group. */
export async function endGroup(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.pid === undefined) return;
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
  } catch {}
}
