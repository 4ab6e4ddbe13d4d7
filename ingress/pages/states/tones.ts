/**
 * The five looks of all states, the same on every page: work that runs, that passed, that failed, that waits for a
 * person or is paused, and all else.
 */
export type Tone = "runs" | "passed" | "failed" | "waits" | "other";

const tones: Record<Exclude<Tone, "other">, readonly string[]> = {
  runs: ["running", "assigned", "timing_out"],
  passed: ["passed", "unblocked", "active", "connected", "enabled", "build_created"],
  failed: [
    ...["failed", "failing", "timed_out", "expired", "lost", "no_agent"],
    ...["blocked_failed", "unblocked_failed"],
  ],
  waits: ["blocked", "blocked_passed", "blocked_running", "paused", "stopping", "refused", "not_verified"],
};
const byState = new Map(
  Object.entries(tones).flatMap(([tone, states]) => states.map((state) => [state, tone as Tone])),
);

/** The look of a state of a job, build, delivery, agent or queue. */
export function toneOf(state: string): Tone {
  return byState.get(state) ?? "other";
}

const signs: Record<Tone, string> = { runs: "●", passed: "✓", failed: "✗", waits: "‖", other: "○" };

/** Stands before the title of a page, which tabs and lists of windows show without colors. */
export function signOf(state: string): string {
  return signs[toneOf(state)];
}
