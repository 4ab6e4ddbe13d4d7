import type { JobState } from "../../../shared/vocabulary.ts";

/** The meaning of a state to people. Each has a color and a shape of its own. */
export type StateKind = "failed" | "soft" | "running" | "waiting" | "passed" | "canceled" | "skipped";

const kinds: Record<JobState, StateKind> = {
  waiting: "waiting",
  blocked: "waiting",
  limited: "waiting",
  scheduled: "waiting",
  reserved: "waiting",
  assigned: "running",
  running: "running",
  canceling: "running",
  timing_out: "running",
  passed: "passed",
  failed: "failed",
  timed_out: "failed",
  expired: "failed",
  canceled: "canceled",
  waiting_failed: "canceled",
  blocked_failed: "canceled",
  unblocked: "passed",
  unblocked_failed: "failed",
  broken: "skipped",
  skipped: "skipped",
};

export function kindOf({ state, softFailed }: { state: JobState; softFailed: boolean }): StateKind {
  return softFailed && kinds[state] === "failed" ? "soft" : kinds[state];
}

/** The states that a list of one kind asks for. */
export function statesOf(kind: StateKind): { states: JobState[]; isSoft?: boolean } {
  const isOfFailed = kind === "failed" || kind === "soft";
  const states = (Object.keys(kinds) as JobState[]).filter(
    (state) => kinds[state] === (isOfFailed ? "failed" : kind),
  );
  return isOfFailed ? { states, isSoft: kind === "soft" } : { states };
}

/** The first of these matter most to people who look at many jobs. */
const byConcern: StateKind[] = ["failed", "running", "soft", "waiting", "canceled", "passed", "skipped"];

/** The kinds of some jobs with their numbers, those of most concern first. */
export function countKinds(jobs: { state: JobState; softFailed: boolean }[]): [StateKind, number][] {
  const counts = new Map<StateKind, number>();
  for (const job of jobs) counts.set(kindOf(job), (counts.get(kindOf(job)) ?? 0) + 1);
  return byConcern.flatMap((kind) => (counts.has(kind) ? [[kind, counts.get(kind) ?? 0]] : []));
}

const countWords: Record<StateKind, string> = {
  failed: "failed",
  soft: "failed softly",
  running: "running",
  waiting: "waiting",
  passed: "passed",
  canceled: "canceled or not reached",
  skipped: "skipped",
};

/** As links name them. */
export const kindsInWords: Record<StateKind, string> = {
  failed: "Failed",
  soft: "Failed softly",
  running: "Running",
  waiting: "Waiting",
  passed: "Passed",
  canceled: "Canceled",
  skipped: "Skipped",
};

/** `2 failed, 48 passed`. */
export function countsInWords(counts: [StateKind, number][]): string {
  return counts.map(([kind, count]) => `${count} ${countWords[kind]}`).join(", ");
}

/** Why a job was left out, or undefined for other jobs. */
export function brokenInWords({
  state,
  brokenReason,
}: {
  state: JobState;
  brokenReason: string | null;
}): string | undefined {
  if (state !== "broken") return undefined;
  if (brokenReason === "conditional_failed") return "Left out by its condition";
  if (brokenReason === "branch_mismatch") return "Not for this branch";
  return brokenReason ? `Skipped: ${brokenReason}` : "Skipped";
}
