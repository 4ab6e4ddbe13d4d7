import type { Tx } from "../../db/database.ts";
import { type BuildOfChangedJobs, type JobChange, putNewsOfJobs } from "../../news/put.ts";
import { finishedJobStates, type JobEvent, type JobState, shownJobState } from "../../vocabulary.ts";
import type { JobFacts } from "./job-store.ts";

type ChangedJob = Pick<JobFacts, "id" | "type" | "state">;

/**
 * Writes news of commands and triggers of a build that were scheduled, started or ended. Others become news by what
 * becomes of the build. One that waits for its concurrency group alone is scheduled to those who hear of it.
 */
export function putNewsOfChangedJobs(
  tx: Tx,
  build: BuildOfChangedJobs,
  jobs: readonly ChangedJob[],
): Promise<void> {
  return putNewsOfJobs(tx, jobChangesOf(build, jobs));
}

/** The changes of which `putNewsOfChangedJobs` writes news. */
export function jobChangesOf(build: BuildOfChangedJobs, jobs: readonly ChangedJob[]): JobChange[] {
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
