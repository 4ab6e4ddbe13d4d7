import { toneOf } from "./tones.ts";

const check = "M4.8 8.3L7 10.5L11.2 5.8";
const cross = "M5.5 5.5l5 5M10.5 5.5l-5 5";
const slash = "M4 12l8-8";
const clock = "M8 4.5v4l2.5 1.5";
const bars = "M6.2 5.2v5.6M9.8 5.2v5.6";
const play = "M6.5 5.2l4.3 2.8l-4.3 2.8z";
const chevrons = "M5 5l3 3l-3 3M8.5 5l3 3l-3 3";
const exclamation = "M8 4.5v4M8 10.8v.6";
const dash = "M5 8h6";
/** Strokes in a circle, by state, or else by tone. */
const icons: Record<string, string> = {
  runs: play,
  passed: check,
  failed: cross,
  waits: bars,
  other: dash,
  scheduled: clock,
  reserved: clock,
  waiting: clock,
  limited: clock,
  creating: clock,
  timing_out: clock,
  canceling: slash,
  canceled: slash,
  disabled: slash,
  soft: exclamation,
  refused: exclamation,
  not_verified: exclamation,
  broken: chevrons,
  not_run: chevrons,
  skipped: chevrons,
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
 * An icon with its word.
 * @param kind the state whose look it has, if not its own
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
        <StateIcon state={kind} />
        {stateInWords(state)}
      </span>
      {isPaused && (
        <>
          {" "}
          <State state="paused" />
        </>
      )}
    </>
  );
}

/** A picture, beside words that say the same. */
export function StateIcon({ state }: { state: string }) {
  const tone = toneOf(state);
  return (
    <svg class={`icon tone-${tone}`} viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="7" />
      <path d={icons[state] ?? icons[tone]} />
    </svg>
  );
}
