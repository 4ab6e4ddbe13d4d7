import { finishedJobStates, type JobState, leasedJobStates, waitingJobStates } from "../../vocabulary.ts";
import type { Job } from "../rows/job-store.ts";

// A step as programs in jobs, notices and statuses see it. Jobs that were retried do not count.
//
// | jobs of the step                        | state                    | outcome               |
// |-----------------------------------------|--------------------------|-----------------------|
// | all left out                            | ignored                  | neutral               |
// | one waits for other steps, none began   | waiting_for_dependencies | neutral               |
// | none began                              | ready                    | neutral               |
// | one began                               | running                  | neutral               |
// | one failed hard, or promises to         | failing                  | neutral               |
// | all ended                               | finished                 | the worst of its jobs |
//
// Outcomes from the best to the worst: passed, soft_failed, errored (no command failed by itself), hard_failed.

const stepStates = [
  ...(["ignored", "waiting_for_dependencies", "ready", "running", "failing", "finished"] as const),
] as const;
export type StepState = (typeof stepStates)[number];
const outcomes = ["neutral", "passed", "soft_failed", "errored", "hard_failed"] as const;
export type StepOutcome = (typeof outcomes)[number];

const leftOut: JobState[] = ["broken", "skipped"];
const passed: JobState[] = ["passed", "unblocked", "unblocked_failed", ...leftOut];

/** @param promising the jobs whose promised failure counts */
export function standingOfStep(
  jobs: Job[],
  promising: ReadonlySet<string>,
): { state: StepState; outcome: StepOutcome } {
  const present = jobs.filter(({ retriedInJobId }) => retriedInJobId === null);
  const state = stateOf(present, promising);
  return { state, outcome: state === "finished" ? worstOf(present.map(outcomeOf)) : "neutral" };
}

function stateOf(jobs: Job[], promising: ReadonlySet<string>): StepState {
  const isIn = (states: JobState[]) => (job: Job) => states.includes(job.state);
  if (jobs.every(isIn(leftOut))) return "ignored";
  if (jobs.every(isIn(finishedJobStates))) return "finished";
  const isHardFailure = (job: Job) => outcomeOf(job) === "hard_failed" || outcomeOf(job) === "errored";
  if (jobs.some((job) => promising.has(job.id) || isHardFailure(job))) return "failing";
  const hasBegun = jobs.some(
    (job) => leasedJobStates.includes(job.state) || (isIn(finishedJobStates)(job) && !isIn(leftOut)(job)),
  );
  if (hasBegun) return "running";
  return jobs.some((job) => waitingJobStates.includes(job.state) && !job.unblockable)
    ? "waiting_for_dependencies"
    : "ready";
}

function outcomeOf({ state, softFailed }: Job): StepOutcome {
  if (!finishedJobStates.includes(state)) return "neutral";
  if (passed.includes(state)) return "passed";
  if (softFailed) return "soft_failed";
  return state === "failed" ? "hard_failed" : "errored";
}

function worstOf(all: StepOutcome[]): StepOutcome {
  return all.reduce((worst, each) => (outcomes.indexOf(each) > outcomes.indexOf(worst) ? each : worst));
}
