import {
  type BuildEvent,
  type BuildState,
  buildEvents,
  finishedBuildStates,
  isBlocked,
  type JobEvent,
  type NoticeKind,
} from "../vocabulary.ts";

// The events of which each kind of notice tells.

/** Changed: one of its jobs did, and statuses say how it stands. */
export type StepEvent = "step.failing" | "step.finished" | "step.changed";
export type NoticeEvent = BuildEvent | StepEvent;

const ends: NoticeEvent[] = ["build.failing", "build.finished"];
const life: NoticeEvent[] = ["build.scheduled", "build.running", "build.blocked", "build.finished"];
const endsOfSteps: NoticeEvent[] = ["step.failing", "step.finished"];
const all: NoticeEvent[] = [...buildEvents, "step.changed"];

export const eventsOfKinds: Record<NoticeKind, readonly NoticeEvent[]> = {
  email: ends,
  webhook: life,
  slack: [...ends, ...endsOfSteps],
  basecamp_campfire: [...life, "build.skipped", ...endsOfSteps],
  pagerduty_change_event: ["build.finished"],
  github_commit_status: all,
  github_check: all,
};

/** News of jobs after which their step may have ended. */
export const endsOfJobs: readonly JobEvent[] = ["job.finished", "job.activated"];

/** Says if an event still holds: a build that runs again has not finished, and will finish again. */
export function stillHolds(event: string, { state }: { state: BuildState }): boolean {
  return event !== "build.finished" || finishedBuildStates.includes(state) || isBlocked(state);
}
