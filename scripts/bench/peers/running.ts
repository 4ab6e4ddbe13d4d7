import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { kilobytesOf, listProcesses, treeOf } from "../machine/process-tree.ts";
import { untilListening } from "../ports.ts";
import type { Scratch } from "../scratch.ts";
import type { Peer, ProcessName } from "./peer.ts";

const sampleEveryMs = 100;

/** The processes of a peer that run at present. */
export class RunningPeer {
  readonly peer: Peer;
  readonly #scratch: Scratch;
  readonly #children = new Map<ProcessName, ChildProcess>();

  constructor(scratch: Scratch, peer: Peer) {
    this.#scratch = scratch;
    this.peer = peer;
  }

  /** Resolves once the server listens; a worker says nothing. */
  async start(name: ProcessName): Promise<void> {
    const start = this.peer.processes[name];
    if (!start) return;
    this.#children.set(name, start());
    if (name === "server") await untilListening(this.peer.port);
  }

  async killAndRestart(name: ProcessName): Promise<void> {
    const child = this.#children.get(name);
    if (child) await this.#scratch.kill(child);
    await this.start(name);
  }

  /** Samples the memory of all processes together while `work` runs. */
  async withHighestMemory<T>(work: () => Promise<T>): Promise<{ result: T; megabytes: number }> {
    let highest = this.#megabytes();
    const done = new AbortController();
    const sampling = (async () => {
      while (!done.signal.aborted) {
        highest = Math.max(highest, this.#megabytes());
        await sleep(sampleEveryMs);
      }
    })();
    const result = await work().finally(() => done.abort());
    await sampling;
    return { result, megabytes: highest };
  }

  #megabytes(): number {
    const all = listProcesses();
    const own = [...this.#children.values()].flatMap(({ pid }) => (pid ? treeOf(pid, all) : []));
    return own.reduce((sum, { pid }) => sum + kilobytesOf(pid, "VmRSS"), 0) / 1024;
  }
}
