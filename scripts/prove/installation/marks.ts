import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readIfPresent } from "../../scratch/process-tree.ts";

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
  return readdirSync(marksFolder)
    .filter((name) => !name.endsWith(".new"))
    .map((name) => {
      const [jobId = "", session, agentPid] = name.split(".");
      const [begin = "", end = ""] = readIfPresent(join(marksFolder, name))?.split("\n") ?? [];
      const [token = "", beganAt] = begin.split(" ");
      const [ended, endedAt] = end.split(" ");
      return {
        ...{ jobId, session: Number(session), agentPid: Number(agentPid), token, beganAt: Number(beganAt) },
        ...{ isWhole: ended === "ended", endedAt: ended === "ended" ? Number(endedAt) : undefined },
      };
    });
}
