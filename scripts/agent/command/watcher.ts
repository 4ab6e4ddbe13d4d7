import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("watch.sh", import.meta.url));

/**
 * The process that ends a command's session. It notices by the end of its input that the agent was killed, so
 * no other process may inherit the agent's end of that pipe.
 */
export class Watcher {
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;
  #session: number | undefined;

  /** @param folder removed if the agent dies */
  constructor(folder: string, cgroup = "") {
    // A session of its own: a signal to the agent's process group does not reach it.
    this.#process = spawn("/bin/sh", [script, folder, cgroup], {
      cwd: "/",
      detached: true,
      env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#exited = once(this.#process, "exit").catch(() => {});
    this.#process.stdin?.on("error", () => {}); // it was killed
  }

  /** Resolves once the watcher's pipe has the id, which then survives the agent. */
  async watch(session: number): Promise<void> {
    this.#session = session;
    await this.#write(String(session));
  }

  signal(signal: "TERM" | "KILL"): void {
    if (this.#isRunning()) void this.#write(signal);
    else this.#signalGroup(signal);
  }

  /** Call after the command's exit. Ends what it left running. */
  async end(): Promise<void> {
    if (this.#isRunning()) await this.#write("ended");
    else this.#signalGroup("KILL");
    this.#process.stdin?.end();
    await this.#exited;
  }

  #isRunning(): boolean {
    return this.#process.pid !== undefined && this.#process.exitCode === null && !this.#process.signalCode;
  }

  #write(line: string): Promise<void> {
    return new Promise((resolve) => this.#process.stdin?.write(`${line}\n`, () => resolve()));
  }

  /** Replaces the watcher if something killed it. */
  #signalGroup(signal: "TERM" | "KILL"): void {
    if (this.#session === undefined) return;
    try {
      process.kill(-this.#session, `SIG${signal}`);
    } catch {
      // the group has ended
    }
  }
}
