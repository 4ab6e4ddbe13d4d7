import type { ChildProcess } from "node:child_process";
import type { Scratch } from "../scratch.ts";

/** A front office: takes posts, and makes a run of each. */
export interface Peer {
  url: string;
  port: number;
  /** Start a process, for the first time or again. Without a worker the server makes the runs. */
  processes: { server: () => ChildProcess; worker?: () => ChildProcess };
  /** A run names its post by the id of the answer, or by the number in the payload. */
  key: "id" | "number";
  countRuns(): Promise<number>;
  /** Keys of all runs. */
  listRuns(): Promise<string[]>;
  /** Keys of accepted posts that are still to run, by the peer's own records. */
  listUnfinished(): Promise<string[]>;
}

/** Parts that are fetched once, before anything is measured. */
export interface Parts {
  /** Folder of the programs with packages of npm. */
  programs: string;
  /** Debian's program. */
  webhook: string;
  postgres: string | undefined;
}

export type StartPeer = (scratch: Scratch, parts: Parts) => Promise<Peer>;

export type ProcessName = keyof Peer["processes"];
