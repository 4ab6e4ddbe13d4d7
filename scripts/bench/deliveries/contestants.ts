import type { Pids } from "../machine/cpu.ts";
import type { Fsync } from "../redis.ts";

/** In the table's order. The hand-made server has two settings of Redis. */
export const columns = {
  bare: { title: "bare h3", short: "bare" },
  everysec: { title: "by hand, everysec", short: "everysec" },
  always: { title: "by hand, always", short: "always" },
  signalbox: { title: "Signalbox", short: "Signalbox" },
};
export type ContestantName = keyof typeof columns;

export interface Server {
  name: ContestantName;
  url: string;
  fsync: Fsync;
  /** Its processes, whose CPU time counts. */
  pids: Pids;
}

export interface Builder extends Server {
  builds: { databaseUrl: string; pipelineId: string };
}

export interface BuilderOptions {
  workers: boolean;
  /** An expression over `webhook.payload` that each delivery must meet. */
  filter?: string | undefined;
  /** Must allow CREATE DATABASE. Undefined: SQLite. */
  postgres?: string | undefined;
}
