import type { Scratch } from "../../scratch/scratch.ts";
import { chooseFaults } from "../faults/fault.ts";
import { startFaults } from "../faults/schedule.ts";
import { allFaults } from "../faults/table.ts";
import { watchGrowth } from "../growth/watch.ts";
import { checkCrashes } from "../ledger/ledger.ts";
import { checkWhole } from "../ledger/whole.ts";
import { watchCommands } from "../outliving.ts";
import type { Subject, Wanted } from "../subject.ts";
import type { Timeline } from "../timeline.ts";
import { type DatabaseName, startInstallation } from "./installation.ts";

/** Starts processes of this machine, with scratch data. */
export async function startProcesses(
  scratch: Scratch,
  timeline: Timeline,
  { database, faults: kinds, logs, bundle }: Wanted & { database: DatabaseName; bundle: string | undefined },
): Promise<Subject> {
  const installation = await startInstallation(scratch, { database, timeline, logs, bundle });
  const { processes } = installation;
  const { faults, missing } = chooseFaults(allFaults, kinds, installation);
  const agents = processes.names.filter((name) => name.startsWith("agent"));
  return {
    installation,
    missing,
    hasBlobs: true,
    listMissingAgents: () => agents.filter((name) => !processes.isStarted(name)),
    watchGrowth: () => watchGrowth(installation, logs),
    startFaults: (options) => startFaults({ ...options, installation, faults }),
    commands: watchCommands(installation, timeline),
    checkEnd() {
      const { by, discrepancies } = checkWhole(installation);
      return { wholeBy: by, discrepancies: [...discrepancies, ...checkCrashes(installation)] };
    },
  };
}
