import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readIfPresent } from "../../scratch/process-tree.ts";
import { checkOf, type Discrepancy, seen } from "../ledger/discrepancy.ts";
import type { Timeline } from "../timeline.ts";

/** A run of a command, as the command itself wrote it down. */
export interface Run {
  jobId: string;
  /** The session of its processes. */
  session: number;
  agentPid: number;
  /** The job token, which is of one attempt. */
  token: string;
  /** It came to its end. */
  isWhole: boolean;
  /** Seconds since the machine's start: clocks of processes jump. */
  beganAt: number;
  endedAt: number | undefined;
}

export function readRuns(marksFolder: string): Run[] {
  const names = readdirSync(marksFolder).filter((name) => !name.endsWith(".new"));
  return names.map((name) => {
    const [jobId = "", session, agentPid] = name.split(".");
    const [begin = "", end = ""] = readIfPresent(join(marksFolder, name))?.split("\n") ?? [];
    const [token = "", beganAt] = begin.split(" ");
    const [ended, endedAt] = end.split(" ");
    const isWhole = ended === "ended";
    const processes = { session: Number(session), agentPid: Number(agentPid) };
    const times = { beganAt: Number(beganAt), endedAt: isWhole ? Number(endedAt) : undefined };
    return { jobId, ...processes, token, isWhole, ...times };
  });
}

const lookEveryMs = 500;
/** The promise is 5 s; a busy machine needs longer to run the watcher. */
const maxMs = 8000;

export interface CommandWatch {
  /** Agents whose commands were looked for after their death. */
  countDeaths(): number;
  stop(): Discrepancy[];
}

/** Watches that the commands of dead agents end. */
export function watchCommands(marksFolder: string, timeline: Timeline): CommandWatch {
  const found: { jobId: string; diedMs: number; seenMs: number }[] = [];
  const diedAt = new Map<number, number>();
  const checked = new Set<number>();
  const look = () => {
    const byAgent = Map.groupBy(readRuns(marksFolder), ({ agentPid }) => agentPid);
    const nowMs = timeline.nowMs();
    for (const [agentPid, runs] of byAgent) {
      if (checked.has(agentPid) || isRunning(agentPid)) continue;
      const diedMs = diedAt.get(agentPid) ?? nowMs;
      diedAt.set(agentPid, diedMs);
      if (nowMs - diedMs < maxMs) continue;
      checked.add(agentPid);
      const sessions = listSessions();
      for (const { jobId, session } of runs)
        if (sessions.has(session)) found.push({ jobId, diedMs, seenMs: nowMs });
    }
  };
  const timer = setInterval(look, lookEveryMs);
  return {
    countDeaths: () => checked.size,
    stop() {
      clearInterval(timer);
      return checkOutliving(found);
    },
  };
}

const checkOutliving = checkOf(
  "commands",
  function* (outliving: { jobId: string; diedMs: number; seenMs: number }[]) {
    for (const { jobId, diedMs, seenMs } of outliving) {
      const story = seen("the agent's death", "its command runs", diedMs, seenMs);
      yield [`the command of job ${jobId} ran on after its agent had died`, story];
    }
  },
);

function isRunning(pid: number): boolean {
  return /\) [^Z]/.test(readIfPresent(`/proc/${pid}/stat`) ?? "");
}

/** Sessions of all processes but zombies. */
function listSessions(): Set<number> {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const stats = pids.map((pid) => readIfPresent(`/proc/${pid}/stat`) ?? "");
  return new Set(stats.map((stat) => Number(/\) [^Z] \d+ \d+ (\d+)/.exec(stat)?.[1])));
}
