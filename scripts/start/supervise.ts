import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { styleText } from "node:util";
import { configurationFault } from "../../shared/process/exit-codes.ts";
import { formatForPeople } from "../../shared/process/log-for-people.ts";
import type { PrintLine } from "./held-lines.ts";
import type { PlannedProcess } from "./procfile.ts";

export interface Supervised {
  /** Resolves with a sentence. */
  gaveUp: Promise<string>;
  /** Process id by name; undefined while the process is down. */
  pidOf(name: string): number | undefined;
  /** Sends SIGTERM, and SIGKILL after `withinMs`. */
  stop(withinMs: number): Promise<void>;
}

export interface SuperviseOptions {
  /** Default: writes it to stdout, behind the name in color. */
  print?: PrintLine;
  /** Called when a process ends by itself. */
  onExit?: (name: string, code: number | null, signal: NodeJS.Signals | null) => void;
}

const restartAfterMs = 1000;
/** A configuration error, or a command that the shell cannot run. Others may pass, such as a full disk. */
const faultCodes = new Set([configurationFault, 126, 127]);
/** A process that has a fault so soon, several times in a row, cannot start. */
const earlyMs = 15_000;
const maxEarlyFailures = 3;
const afterKillMs = 500;
const colors = ["cyan", "yellow", "magenta", "green", "blue"] as const;

/** Starts each process, and restarts it when it ends. */
export function supervise(
  processes: PlannedProcess[],
  { print = printer(processes), onExit = () => {} }: SuperviseOptions = {},
): Supervised {
  const { promise: gaveUp, resolve: giveUp } = Promise.withResolvers<string>();
  const all = processes.map((planned) => new Supervisee(planned, { print, onExit, giveUp }));
  for (const each of all) each.startWhenDue();

  return {
    gaveUp,
    pidOf: (name) => all.find((each) => each.name === name)?.pid,
    async stop(withinMs) {
      const ended = Promise.all(all.map((each) => each.end()));
      const killed = sleep(withinMs, undefined, { ref: false }).then(async () => {
        for (const each of all) each.kill();
        await sleep(afterKillMs); // its own children may keep our pipes open
      });
      await Promise.race([ended, killed]);
    },
  };
}

/** Writes to stdout, behind the name in color. */
export function printer(processes: PlannedProcess[]): PrintLine {
  const width = Math.max(...processes.map(({ name }) => name.length));
  const prefixes = new Map(
    processes.map(({ name }, index) => [
      name,
      styleText(colors[index % colors.length] ?? "cyan", `[${name.padEnd(width)}]`),
    ]),
  );
  const format = process.stdout.isTTY
    ? formatForPeople(process.stdout, process.env.LOG_LEVEL)
    : (line: string) => line;
  return (name, line) => {
    const text = format(line);
    if (text !== undefined) process.stdout.write(`${prefixes.get(name)} ${text}\n`);
  };
}

type Callbacks = Required<SuperviseOptions> & { giveUp: (reason: string) => void };

class Supervisee {
  readonly #planned: PlannedProcess;
  readonly #callbacks: Callbacks;
  #child: ChildProcess | undefined;
  #restart: NodeJS.Timeout | undefined;
  #earlyFailures = 0;
  #isEnding = false;

  constructor(planned: PlannedProcess, callbacks: Callbacks) {
    this.#planned = planned;
    this.#callbacks = callbacks;
  }

  get name(): string {
    return this.#planned.name;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  startWhenDue(): void {
    const { after } = this.#planned;
    const startIf = (isDue: boolean) => {
      if (isDue && !this.#isEnding) this.start();
    };
    if (after)
      after.then(startIf, () => {}); // its maker reports the error
    else this.start();
  }

  start(): void {
    const startedAt = performance.now();
    // The channel breaks when we are killed: no child outlives us.
    const { command, env, user } = this.#planned;
    const child = spawn(command, {
      shell: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      env: env ?? process.env,
      ...user,
    });
    this.#child = child;
    for (const input of [child.stdout, child.stderr])
      if (input) createInterface({ input }).on("line", (line) => this.#print(line));
    child.on("error", (error) => this.#print(error.message));
    child.on("close", (code, signal) => {
      this.#child = undefined;
      if (!this.#isEnding) this.#handleExit(code, signal, performance.now() - startedAt);
    });
  }

  /** Sends SIGTERM, and resolves once the process has ended. */
  async end(): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#restart);
    if (!this.#child) return;
    const closed = once(this.#child, "close");
    this.#child.kill("SIGTERM");
    await closed;
  }

  kill(): void {
    if (!this.#child) return;
    this.#print("has not ended in time; killing it");
    this.#child.kill("SIGKILL");
  }

  #print(line: string): void {
    this.#callbacks.print(this.name, line);
  }

  #handleExit(code: number | null, signal: NodeJS.Signals | null, afterMs: number): void {
    this.#callbacks.onExit(this.name, code, signal);
    const isEarlyFailure = code !== null && faultCodes.has(code) && afterMs < earlyMs;
    this.#earlyFailures = isEarlyFailure ? this.#earlyFailures + 1 : 0;
    if (this.#earlyFailures >= maxEarlyFailures) {
      this.#callbacks.giveUp(
        `${this.#planned.name} cannot start: it ended with code ${code} ${maxEarlyFailures} times in a row. The lines above say why.`,
      );
      return;
    }
    this.#print(`ended (${signal ?? code}); starting it again`);
    this.#restart = setTimeout(() => this.start(), restartAfterMs);
  }
}
