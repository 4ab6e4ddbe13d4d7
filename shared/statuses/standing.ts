import type { StepOutcome, StepState } from "../builds/reading/step-standing.ts";
import type { Build } from "../builds/rows/build-store.ts";
import type { Job } from "../builds/rows/job-store.ts";
import { finalWorkMs, type Worked, workMsOfJobs } from "../builds/rows/work.ts";
import type { CommitStatus, StatusState } from "../connections/hosts/statuses.ts";
import { msInWords } from "../durations.ts";

// The state and the words of a status of a build or a step, in no host's own terms.

type Standing = Pick<CommitStatus, "state" | "description">;

interface StatusWords {
  state: StatusState;
  words: string;
}

const ofStates: Record<Exclude<Build["state"], `blocked_${string}` | "not_run">, StatusWords> = {
  scheduled: { state: "waiting", words: "is scheduled" },
  running: { state: "running", words: "is running" },
  failing: { state: "failed", words: "is failing" }, // nothing mends it but a retry, which says so
  canceling: { state: "running", words: "is being canceled" },
  passed: { state: "passed", words: "passed" },
  failed: { state: "failed", words: "failed" },
  canceled: { state: "canceled", words: "was canceled" },
  skipped: { state: "failed", words: "was skipped" },
};

/** @param blockedAsPending a build that waits for people, and passed so far, is pending */
export function standingOfBuild(
  build: Pick<Build, "number" | "state"> & Worked,
  { blockedAsPending }: { blockedAsPending: boolean },
): Standing {
  const { state, words } = wordsOfBuild(build, blockedAsPending);
  return { state, description: `Build #${build.number} ${words}${ranInWords(state, finalWorkMs(build))}` };
}

function wordsOfBuild(
  { state, startedAt }: Pick<Build, "state" | "startedAt">,
  blockedAsPending: boolean,
): StatusWords {
  switch (state) {
    case "blocked_passed":
      return { state: blockedAsPending ? "waiting" : "passed", words: "is blocked" };
    case "blocked_failed":
      return { state: "failed", words: "failed and is blocked" };
    case "blocked_running":
      return { state: "running", words: "is blocked" };
    case "not_run":
      // A commit that concerns no step of the pipeline may be merged.
      return { state: startedAt ? "canceled" : "passed", words: "had no steps to run" };
    default:
      return ofStates[state];
  }
}

type StepJob = Pick<Job, "state" | "startedAt" | "finishedAt">;

/** @returns undefined for a step that is left out, and for one that only waits for other steps */
export function standingOfJobs(
  { state, outcome }: { state: StepState; outcome: StepOutcome },
  jobs: StepJob[],
): Standing | undefined {
  switch (state) {
    case "ignored":
    case "waiting_for_dependencies":
      return undefined;
    case "ready":
      return { state: "waiting", description: "Scheduled" };
    case "running":
      return { state: "running", description: "Running" };
    case "failing":
      return { state: "failed", description: "Failing" };
    case "finished": {
      const ended = endOf(outcome, jobs);
      return {
        state: ended.state,
        description: `${ended.words}${ranInWords(ended.state, workMsOfJobs(jobs))}`,
      };
    }
  }
}

function endOf(outcome: StepOutcome, jobs: StepJob[]): StatusWords {
  const isSome = (state: Job["state"]) => jobs.some((job) => job.state === state);
  if (outcome === "passed") return { state: "passed", words: "Passed" };
  if (outcome === "soft_failed") return { state: "passed", words: "Failed, which its step allows" };
  if (outcome === "hard_failed") return { state: "failed", words: "Failed" };
  if (isSome("timed_out")) return { state: "failed", words: "Timed out" };
  if (isSome("expired")) return { state: "failed", words: "Found no agent in time" };
  if (isSome("canceled")) return { state: "canceled", words: "Canceled" };
  return { state: "canceled", words: "Did not run: a step before it failed" };
}

/** ` (1 min 5 s)`, once it has passed or failed. */
function ranInWords(state: StatusState, ms: number | undefined): string {
  const hasRun = ms !== undefined && (state === "passed" || state === "failed");
  return hasRun ? ` (${msInWords(ms)})` : "";
}
