import type { Schedule, ScheduleOptions } from "./faults/schedule.ts";
import type { GrowthWatch } from "./growth/watch.ts";
import type { Reachable } from "./installation/installation.ts";
import type { Discrepancy } from "./ledger/discrepancy.ts";
import type { Outliving } from "./outliving.ts";

/** An installation that is proved: processes of this machine, or containers. */
export interface Subject {
  installation: Reachable;
  /** Kinds of faults that cannot be injected, with the reason. */
  missing: { kind: string; reason: string }[];
  /** This machine can read the bytes of artifacts. */
  hasBlobs: boolean;
  /** Names agents that have not connected. */
  listMissingAgents(): string[] | Promise<string[]>;
  /** Without faults: samples what could grow. Containers are not sampled. */
  watchGrowth?(): GrowthWatch;
  startFaults(options: Pick<ScheduleOptions, "perSecond" | "random" | "timeline">): Schedule;
  /** Commands of dead agents; those of a container end with it. */
  commands?: { found: Outliving[]; countDeaths(): number; stop(): void };
  /** Call after convergence. */
  checkEnd(): { wholeBy: string; discrepancies: Discrepancy[] };
}

export interface Wanted {
  /** Kinds of faults. Undefined: all. */
  faults: string[] | undefined;
  /** Folder for the output of the processes. */
  logs: string | undefined;
}
