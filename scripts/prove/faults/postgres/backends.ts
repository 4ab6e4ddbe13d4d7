import { listProcesses, type Process, treeOf } from "../../../bench/machine/process-tree.ts";
import type { Installation } from "../../installation/installation.ts";

/** The server's process, then those of its connections and of its own work. None while it is down. */
export function postgresProcesses({ servers }: Installation): Process[] {
  const pid = servers.pidOf("postgres");
  return pid === undefined ? [] : treeOf(pid, listProcesses());
}

/** A process may have ended meanwhile. */
export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {}
}
