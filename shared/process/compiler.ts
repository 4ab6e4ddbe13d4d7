import { createRequire } from "node:module";
import { secondMs } from "../durations.ts";

const modules = createRequire(import.meta.url);
const endsWithinMs = secondMs;

/**
 * Ends what tsx has started in this thread to compile modules that its cache did not have: a process of esbuild and a
 * thread that talks to it, together 25 MB. They start again for a module that comes later. Blocks for milliseconds.
 */
export function endCompiler(): void {
  const esbuild = findLoaded("esbuild") as { stop: () => Promise<void> } | undefined;
  const compilers = esbuild ? findProcesses() : [];
  // A process whose thread has ended before it stays as a zombie.
  for (const pid of compilers) signal(pid, "SIGTERM");
  const deadline = performance.now() + endsWithinMs;
  while (compilers.some((pid) => signal(pid, 0)) && performance.now() < deadline) pause(1);
  esbuild?.stop();
}

/** Returns undefined in a bundle, which needs no compiler. */
function findLoaded(name: string): unknown {
  try {
    return modules.cache[modules.resolve(name)]?.exports;
  } catch {
    return undefined;
  }
}

interface Report {
  libuv: { type: string; pid?: number }[];
  workers: Report[];
}

/** Finds the processes that threads of this thread have started. Only a report names them. */
function findProcesses(): number[] {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork: boolean };
  const { excludeNetwork } = report;
  report.excludeNetwork = true; // looking up names of hosts takes seconds
  const { workers } = report.getReport() as unknown as Report;
  report.excludeNetwork = excludeNetwork;
  return workers.flatMap(({ libuv }) =>
    libuv.flatMap(({ type, pid }) => (type === "process" && pid ? [pid] : [])),
  );
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
