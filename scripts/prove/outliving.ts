import { readdirSync } from "node:fs";
import { readIfPresent } from "../scratch/process-tree.ts";
import type { Installation } from "./installation/installation.ts";
import { readRuns } from "./installation/marks.ts";
import type { Timeline } from "./timeline.ts";

/** A command that ran on after its agent had died. */
export interface Outliving {
  jobId: string;
  diedMs: number;
  seenMs: number;
}

const lookEveryMs = 500;
/** The promise is 5 s; a busy machine needs longer to run the watcher. */
const maxMs = 8000;

/** Watches that the commands of dead agents end. */
export function watchCommands({ marksFolder }: Installation, timeline: Timeline) {
  const found: Outliving[] = [];
  const diedAt = new Map<number, number>();
  const checked = new Set<number>();
  let died = 0;
  const look = () => {
    const byAgent = Map.groupBy(readRuns(marksFolder), ({ agentPid }) => agentPid);
    const nowMs = timeline.nowMs();
    for (const [agentPid, runs] of byAgent) {
      if (checked.has(agentPid) || isRunning(agentPid)) continue;
      const diedMs = diedAt.get(agentPid) ?? nowMs;
      diedAt.set(agentPid, diedMs);
      if (nowMs - diedMs < maxMs) continue;
      checked.add(agentPid);
      died++;
      const sessions = listSessions();
      for (const { jobId, session } of runs)
        if (sessions.has(session)) found.push({ jobId, diedMs, seenMs: nowMs });
    }
  };
  const timer = setInterval(look, lookEveryMs);
  return {
    found,
    /** Agents whose commands were looked for after their death. */
    countDeaths: () => died,
    stop: () => clearInterval(timer),
  };
}

function isRunning(pid: number): boolean {
  return /\) [^Z]/.test(readIfPresent(`/proc/${pid}/stat`) ?? "");
}

/** Sessions of all processes but zombies. */
function listSessions(): Set<number> {
  const stats = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readIfPresent(`/proc/${pid}/stat`) ?? "");
  return new Set(stats.map((stat) => Number(/\) [^Z] \d+ \d+ (\d+)/.exec(stat)?.[1])));
}
