import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { styleText } from "node:util";
import { configurationFault } from "../../shared/runtime/exit-codes.ts";
import type { PlannedProcess } from "./procfile.ts";

export interface Supervised {
  /** Resolves with a sentence. */
  gaveUp: Promise<string>;
  /** Sends SIGTERM, and SIGKILL after `withinMs`. */
  stop(withinMs: number): Promise<void>;
}

const restartAfterMs = 1000;
/** A fault of configuration, or a command that the shell cannot run. Others may pass, such as a full disk. */
const faultCodes = new Set([configurationFault, 126, 127]);
/** A process that has a fault so soon, several times in a row, cannot start. */
const earlyMs = 15_000;
const maxEarlyFailures = 3;
const afterKillMs = 500;
const colors = ["cyan", "yellow", "magenta", "green", "blue"] as const;

/** Restarts each process that ends. */
export function supervise(processes: PlannedProcess[]): Supervised {
  const { promise: gaveUp, resolve: giveUp } = Promise.withResolvers<string>();
  const width = Math.max(...processes.map(({ name }) => name.length));
  const all = processes.map((planned, index) => {
    const prefix = styleText(colors[index % colors.length] ?? "cyan", `[${planned.name.padEnd(width)}]`);
    return new Supervisee(planned, (line) => process.stdout.write(`${prefix} ${line}\n`), giveUp);
  });
  for (const each of all) each.start();

  return {
    gaveUp,
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

class Supervisee {
  readonly #planned: PlannedProcess;
  readonly #print: (line: string) => void;
  readonly #giveUp: (reason: string) => void;
  #child: ChildProcess | undefined;
  #restart: NodeJS.Timeout | undefined;
  #earlyFailures = 0;
  #isEnding = false;

  constructor(planned: PlannedProcess, print: (line: string) => void, giveUp: (reason: string) => void) {
    this.#planned = planned;
    this.#print = print;
    this.#giveUp = giveUp;
  }

  start(): void {
    const startedAt = performance.now();
    // The channel breaks when we are killed: no child outlives us.
    const child = spawn(this.#planned.command, { shell: true, stdio: ["ignore", "pipe", "pipe", "ipc"] });
    this.#child = child;
    for (const input of [child.stdout, child.stderr])
      if (input) createInterface({ input }).on("line", this.#print);
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

  #handleExit(code: number | null, signal: NodeJS.Signals | null, afterMs: number): void {
    const isEarlyFailure = code !== null && faultCodes.has(code) && afterMs < earlyMs;
    this.#earlyFailures = isEarlyFailure ? this.#earlyFailures + 1 : 0;
    if (this.#earlyFailures >= maxEarlyFailures) {
      this.#giveUp(
        `${this.#planned.name} cannot start: it ended with code ${code} ${maxEarlyFailures} times in a row. The lines above say why.`,
      );
      return;
    }
    this.#print(`ended (${signal ?? code}); starting it again`);
    this.#restart = setTimeout(() => this.start(), restartAfterMs);
  }
}
