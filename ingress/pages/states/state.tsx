const cross = "M4 4l8 8M12 4l-8 8";
const slashed = "M8 2a6 6 0 1 0 .01 0M4 12l8-8";
const clock = "M8 2a6 6 0 1 0 .01 0M8 5v3.5l2 1.5";
const bars = "M5.5 3v10M10.5 3v10";
const chevrons = "M3 4l4 4-4 4M9 4l4 4-4 4";
/** Strokes in a square of 16. */
const icons: Record<string, string> = {
  passed: "M3 8.5L6.5 12L13 4.5",
  failed: cross,
  failing: cross,
  timed_out: cross,
  expired: cross,
  running: "M5 3l8 5l-8 5z",
  assigned: "M5 3l8 5l-8 5z",
  scheduled: clock,
  reserved: clock,
  waiting: clock,
  limited: clock,
  timing_out: clock,
  canceling: slashed,
  canceled: slashed,
  waiting_failed: "M3 8h10",
  soft: "M8 3v6M8 11.5v1",
  broken: chevrons,
  not_run: chevrons,
  skipped: chevrons,
  blocked: bars,
  blocked_passed: bars,
  blocked_failed: bars,
  blocked_running: bars,
  unblocked: "M3 8.5L6.5 12L13 4.5",
  unblocked_failed: cross,
};

const words: Record<string, string> = {
  broken: "skipped",
  blocked_passed: "blocked",
  blocked_failed: "blocked, failed",
  blocked_running: "blocked",
};

/** The state of a job, build or other thing in words. */
export function stateInWords(state: string): string {
  return words[state] ?? state.replaceAll("_", " ");
}

/**
 * @param kind class of the color, if not the word
 * @param isPaused a paused queue delays it
 */
export function State({
  state,
  kind = state,
  isPaused = false,
}: {
  state: string;
  kind?: string;
  isPaused?: boolean;
}) {
  return (
    <>
      <span class={`state ${kind}`}>
        <StateIcon state={state} />
        {stateInWords(state)}
      </span>
      {isPaused && (
        <>
          {" "}
          <span class="state paused">paused</span>
        </>
      )}
    </>
  );
}

/** A picture of a state that has one, beside its words. */
export function StateIcon({ state }: { state: string }) {
  const path = icons[state];
  if (path === undefined) return null;
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
