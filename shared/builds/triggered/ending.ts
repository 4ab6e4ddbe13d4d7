import type { BuildState, JobState } from "../../vocabulary.ts";
import { isOutdated } from "../outdated/reason.ts";
import type { Build } from "../rows/build-store.ts";
import type { Job } from "../rows/job-store.ts";

export interface TriggerEnding {
  state: JobState;
  /** For people. */
  reason?: string;
}

/** A job that was canceled because its build was. It follows the build; one that people cancel does not. */
export const followsCanceledBuild = "Its build was canceled";

/** States of builds in which the step has ended. In others it runs. */
const ends: Partial<Record<BuildState, JobState>> = {
  passed: "passed",
  not_run: "passed",
  blocked_passed: "passed",
  failed: "failed",
  canceled: "canceled",
  skipped: "skipped",
};

type Ended = Pick<Build, "state" | "cancelReason">;

/** The job of a trigger step follows the build that it made. Returns what it becomes. */
export function endingOf({ options }: Pick<Job, "options">, build: Ended): TriggerEnding {
  if (options?.trigger?.async) return { state: "passed" };
  const ending = isOutdated(build) ? "skipped" : (ends[build.state] ?? "running");
  return ending === "canceled" ? { state: ending, reason: followsCanceledBuild } : { state: ending };
}
