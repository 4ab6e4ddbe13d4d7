import type { Tx } from "../../db/database.ts";
import { type BuildOfToldJobs, type ToldJob, tellOfJobs } from "../../news/tell.ts";
import { finishedJobStates, type JobEvent, type JobState, shownJobState } from "../../vocabulary.ts";
import type { JobFacts } from "./job-store.ts";

type ChangedJob = Pick<JobFacts, "id" | "type" | "state">;

/**
 * Tells of commands and triggers of a build that were scheduled, started or ended. Others become news by what becomes of
 * the build. One that waits for its concurrency group alone is scheduled to those who hear of it.
 */
export function tellOfChangedJobs(
  tx: Tx,
  build: BuildOfToldJobs,
  jobs: readonly ChangedJob[],
): Promise<void> {
  return tellOfJobs(tx, toldOf(build, jobs));
}

/** The changes that `tellOfChangedJobs` tells of. */
export function toldOf(build: BuildOfToldJobs, jobs: readonly ChangedJob[]): ToldJob[] {
  return jobs.flatMap(({ id, type, state }) => {
    const event = type === "script" || type === "trigger" ? eventOf(state) : undefined;
    return event ? [{ build, id, event }] : [];
  });
}

function eventOf(state: JobState): JobEvent | undefined {
  if (shownJobState(state) === "scheduled") return "job.scheduled";
  if (state === "running") return "job.started";
  return finishedJobStates.includes(state) ? "job.finished" : undefined;
}
