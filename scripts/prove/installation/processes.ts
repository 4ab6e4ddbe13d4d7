import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundledFile } from "../../deploy/bundled.ts";
import { type PlannedProcess, parseProcfile, planProcesses } from "../../start/procfile.ts";
import { supervise } from "../../start/supervise.ts";
import type { Timeline } from "../timeline.ts";

/** A process that ended though nobody ended it. */
interface Crash {
  name: string;
  atMs: number;
  /** Its exit code or signal, and its last lines. */
  story: string;
}

/** The lines that servers and agents print once they have started. */
const startedLine = /"msg":"started"|: Connected as /;
const keptLines = 8;
const stopWithinMs = 8000;
const lasting: NodeJS.Signals[] = ["SIGSTOP", "SIGCONT"];

/**
 * The processes of the Procfile: three ingress processes, two workers, and agents for each ingress process, last. They
 * start from the bundle that this program runs from, if it does: with a third of the CPU time.
 */
export function planOwnProcesses(): PlannedProcess[] {
  const folder = dirname(process.argv[1] ?? "");
  const kinds = parseProcfile(readFileSync("Procfile", "utf8")).map(({ name, command }) => {
    const bundled = command.replace(/(?:--import \S+ )+(\S+\.ts)/, (from, source) => {
      const file = bundledFile(folder, source);
      return existsSync(file) ? file : from;
    });
    return { name, command: bundled };
  });
  const planned = planProcesses(kinds, ["ingress=3", "worker=2", "agent=3"]);
  return planned.sort((a, b) => +(a.kind === "agent") - +(b.kind === "agent"));
}

/**
 * Runs processes under the supervisor of `npm start`.
 * @param logs folder for their output; undefined: it is dropped
 */
export function runProcesses(planned: PlannedProcess[], timeline: Timeline, logs: string | undefined) {
  const lastLines = new Map(planned.map(({ name }) => [name, [] as string[]]));
  const started = new Set<string>();
  /** Pids of processes that were told to end. */
  const expected = new Set<number>();
  const pids = new Map<string, number>();
  const crashes: Crash[] = [];
  if (logs) mkdirSync(logs, { recursive: true });

  const supervised = supervise(planned, {
    print(name, line) {
      const lines = lastLines.get(name) ?? [];
      lines.push(line);
      if (startedLine.test(line)) started.add(name);
      if (lines.length > keptLines) lines.shift();
      if (logs) appendFileSync(join(logs, `${name}.log`), `${line}\n`);
    },
    onExit(name, code, signal) {
      started.delete(name);
      if (expected.delete(pids.get(name) ?? 0)) return;
      const story = [`ended by itself (${signal ?? `exit code ${code}`})`, ...(lastLines.get(name) ?? [])];
      crashes.push({ name, atMs: timeline.nowMs(), story: story.join("\n      ") });
    },
  });
  return {
    names: planned.map(({ name }) => name),
    crashes,
    pidOf: supervised.pidOf,
    /** It has logged that it has started. */
    isStarted: (name: string) => started.has(name),
    /** Sends a signal, and expects the process to end by it unless it stops or continues it. */
    signal(name: string, signal: NodeJS.Signals): void {
      const pid = supervised.pidOf(name);
      if (pid === undefined) return;
      pids.set(name, pid);
      try {
        process.kill(pid, signal);
      } catch {
        return; // it has ended, and its pipes are still open
      }
      if (!lasting.includes(signal)) expected.add(pid);
    },
    stop: () => supervised.stop(stopWithinMs),
  };
}
