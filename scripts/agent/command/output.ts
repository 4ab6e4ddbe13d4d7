import { execFile } from "node:child_process";
import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { secondMs } from "../../../shared/durations.ts";

const run = promisify(execFile);
/** Limit what is read of a pipe that a process outside the session keeps open. A pipe has at most 1 MiB. */
const maxSilenceMs = secondMs;
const maxRestBytes = 2 * 1024 ** 2;

/**
 * The pipe of a command's standard output and error. Node's own pipes are sockets: scripts cannot open
 * /dev/stdout or /dev/stderr then, and the two would lose their order.
 */
export class Output {
  /** For the command. */
  readonly writeEnd: number;
  readonly #socket: Socket;
  readonly #read: Promise<void>;
  #bytes = 0;
  #isBusy = false;

  private constructor(path: string, onOutput: (bytes: Buffer) => Promise<void>) {
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.writeEnd = openSync(path, constants.O_WRONLY);
    unlinkSync(path);
    this.#socket = new Socket({ fd: readEnd, readable: true, writable: false });
    this.#read = this.#readAll(onOutput);
  }

  /** @param onOutput the pipe waits until the promise resolves */
  static async open(folder: string, onOutput: (bytes: Buffer) => Promise<void>): Promise<Output> {
    const path = join(folder, "output");
    await run("mkfifo", ["-m", "600", path]);
    return new Output(path, onOutput);
  }

  /** Call once the command has the write end: the pipe ends with the last process that has it. */
  closeWriteEnd(): void {
    closeSync(this.writeEnd);
  }

  /** Call once the command has ended. Resolves when everything is read. */
  async finish(): Promise<void> {
    const ended = this.#read.then(() => true);
    const maxBytes = this.#bytes + maxRestBytes;
    for (let before = -1; (before !== this.#bytes || this.#isBusy) && this.#bytes < maxBytes; ) {
      before = this.#bytes;
      const timeout = new AbortController();
      // Node reads pipes after timers: when the machine had no time for this process, there may be much to read.
      const waited = sleep(maxSilenceMs, undefined, { signal: timeout.signal }).then(() => nextTurn());
      const silence = waited.catch(() => {}).then(() => false);
      const isDone = await Promise.race([ended, silence]);
      timeout.abort();
      if (isDone) return;
    }
    this.#socket.destroy();
    await this.#read;
  }

  async #readAll(onOutput: (bytes: Buffer) => Promise<void>): Promise<void> {
    try {
      for await (const bytes of this.#socket) {
        this.#isBusy = true;
        await onOutput(bytes);
        this.#isBusy = false;
        this.#bytes += bytes.length;
      }
    } catch {
      // destroyed
    }
  }
}
