import type { Scratch } from "../../scratch/scratch.ts";
import { chooseFaults } from "../faults/fault.ts";
import { type Schedule, type ScheduleOptions, startFaults } from "../faults/schedule.ts";
import { allFaults } from "../faults/table.ts";
import { type GrowthWatch, watchGrowth } from "../growth/watch.ts";
import { checkOf, type Discrepancy, seen } from "../ledger/discrepancy.ts";
import { findDamage } from "../ledger/whole.ts";
import type { Timeline } from "../timeline.ts";
import { type DatabaseName, type Installation, type Reachable, startInstallation } from "./installation.ts";
import { type CommandWatch, watchCommands } from "./marks.ts";

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
  commands?: CommandWatch;
  /** Call after convergence. */
  checkEnd(): { wholeBy: string; discrepancies: Discrepancy[] };
}

export interface Wanted {
  /** Kinds of faults. Undefined: all. */
  faults?: string[];
  /** Folder for the output of the processes. */
  logs?: string;
}

/** Starts processes of this machine, with scratch data. */
export async function startProcesses(
  scratch: Scratch,
  timeline: Timeline,
  options: Wanted & { database: DatabaseName },
): Promise<Subject> {
  const installation = await startInstallation(scratch, timeline, options);
  const { processes } = installation;
  const { faults, missing } = chooseFaults(allFaults, options.faults, installation);
  const agents = processes.names.filter((name) => name.startsWith("agent"));
  return {
    installation,
    missing,
    hasBlobs: true,
    listMissingAgents: () => agents.filter((name) => !processes.isStarted(name)),
    watchGrowth: () => watchGrowth(installation, options.logs),
    startFaults: (given) => startFaults({ ...given, installation, faults }),
    commands: watchCommands(installation.marksFolder, timeline),
    checkEnd() {
      const { by, problems } = findDamage(installation);
      return { wholeBy: by, discrepancies: [...checkStructure(problems), ...checkCrashes(installation)] };
    },
  };
}

export const checkStructure = checkOf("structure", (problems: string[]) => problems);

/** Nobody ended these processes. */
const checkCrashes = checkOf("processes", function* ({ processes }: Pick<Installation, "processes">) {
  for (const { name, atMs, story } of processes.crashes)
    yield [`${name} ${story}`, seen(name, "ended", atMs)];
});
