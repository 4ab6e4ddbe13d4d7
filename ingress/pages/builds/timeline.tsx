import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { dayMs, durationInWords, hourMs, minuteMs, msInWords, secondMs } from "../../../shared/durations.ts";

/** The time that the bars of jobs share. It begins when the build was created. */
export interface Timeline {
  origin: number;
  /** Its length, one of `spans`. */
  span: number;
  /** Ends of what still runs or waits. */
  now: Date;
}

type Timed = Pick<Job, "state" | "scheduledAt" | "startedAt" | "finishedAt">;

/**
 * The lengths of timelines, in seconds. Bars are in parts of a day, and bars.css stretches a day by the length: the bars of
 * jobs that have ended stay as they are while the build goes on.
 */
export const spans = [
  ...[30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1200, 1800, 2700],
  ...[1, 1.5, 2, 3, 4, 6, 8, 12, 16].map((hours) => hours * 3600),
  ...[1, 1.5, 2, 3, 4, 7, 10, 14, 21, 30, 60, 120, 365].map((days) => days * 86_400),
];
const maxTicks = 4;
const tickLengths = [
  ...[10, 15, 30].map((seconds) => seconds * secondMs),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 2, 3, 6, 12].map((hours) => hours * hourMs),
];

/** Up to the end of the last job. Undefined: none could start. */
export function timelineOf(jobs: Timed[], createdAt: Date, now: Date): Timeline | undefined {
  const reached = jobs.filter(({ scheduledAt }) => scheduledAt);
  if (reached.length === 0) return undefined;
  const end = Math.max(...reached.map(({ finishedAt }) => (finishedAt ?? now).getTime()));
  const seconds = (end - createdAt.getTime()) / secondMs;
  const span = spans.find((each) => each >= seconds) ?? (spans.at(-1) as number);
  return { origin: createdAt.getTime(), span, now };
}

/** The time that a job waited and ran, as a bar. */
export function Bar({ job, timeline }: { job: Timed; timeline: Timeline }) {
  const { scheduledAt, startedAt, finishedAt, state } = job;
  if (!scheduledAt) return null;
  const sinceOrigin = (at: Date) => durationInWords(new Date(timeline.origin), at);
  const end = finishedAt ? `to ${sinceOrigin(finishedAt)}` : "on,";
  return (
    <svg class="bar" role="img" aria-label={`From ${sinceOrigin(scheduledAt)} ${end} after the build began`}>
      <Span timeline={timeline} from={scheduledAt} to={startedAt ?? finishedAt} class="wait" />
      {startedAt && <Span timeline={timeline} from={startedAt} to={finishedAt} class={state} />}
    </svg>
  );
}

/** `times.js` lets one without an end grow. */
function Span({
  timeline: { origin, now },
  from,
  to,
  class: name,
}: {
  timeline: Timeline;
  from: Date;
  to: Date | null;
  class: string;
}) {
  const length = (to ?? now).getTime() - from.getTime();
  if (name === "wait" && to && length < secondMs) return null;
  const seconds = to ? undefined : Math.max(0, Math.floor(length / secondMs));
  return (
    <rect
      class={name}
      x={ofDay(from.getTime() - origin)}
      data-seconds={seconds}
      width={ofDay(seconds === undefined ? length : seconds * secondMs)}
    />
  );
}

/** The times of the scale, above the bars. */
export function Axis({ timeline: { span } }: { timeline: Timeline }) {
  const length = span * secondMs;
  const step = tickLengths.find((each) => length / each <= maxTicks) ?? daysOf(length);
  const ticks = Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step);
  return (
    <svg class="axis" aria-hidden="true">
      {ticks.map((at) => (
        <text key={at} x={`${round((at / length) * 100)}%`} y="11" text-anchor={anchorAt(at / length)}>
          {at === 0 ? "0" : msInWords(at)}
        </text>
      ))}
    </svg>
  );
}

/** Whole days. */
function daysOf(ms: number): number {
  return Math.ceil(ms / dayMs / maxTicks) * dayMs;
}

/** Texts at the edges stay inside. */
function anchorAt(place: number): "start" | "middle" | "end" {
  if (place < 0.05) return "start";
  return place > 0.92 ? "end" : "middle";
}

function ofDay(ms: number): string {
  return `${round(Math.max(0, (ms / dayMs) * 100))}%`;
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
