import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { dayMs, durationInWords, hourMs, minuteMs, secondMs } from "../../../shared/durations.ts";

/** The time that the bars of jobs share. */
export interface Timeline {
  /** When the build was created. */
  origin: number;
  from: number;
  to: number;
  /** Ends of what still runs or waits. */
  now: Date;
}

type Timed = Pick<Job, "state" | "scheduledAt" | "startedAt" | "finishedAt">;

const maxTicks = 4;
const tickLengths = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * secondMs),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 2, 3, 6, 12].map((hours) => hours * hourMs),
];
/** A bar that is shorter could not be seen. */
const minPercent = 0.6;

/** From the first job that could start to the end of the last. Undefined: none could. */
export function timelineOf(jobs: Timed[], createdAt: Date, now: Date): Timeline | undefined {
  const reached = jobs.filter(({ scheduledAt }) => scheduledAt);
  if (reached.length === 0) return undefined;
  const from = Math.min(...reached.map(({ scheduledAt }) => scheduledAt?.getTime() ?? 0));
  const to = Math.max(...reached.map(({ finishedAt }) => (finishedAt ?? now).getTime()));
  return { origin: createdAt.getTime(), from, to: Math.max(to, from + secondMs), now };
}

/** The time that a job waited and ran, as a bar. */
export function Bar({ job, timeline }: { job: Timed; timeline: Timeline }) {
  const { scheduledAt, startedAt, finishedAt, state } = job;
  if (!scheduledAt) return null;
  const end = finishedAt ?? timeline.now;
  const sinceOrigin = (at: Date) => durationInWords(new Date(timeline.origin), at);
  return (
    <svg
      class="bar"
      width="100%"
      height="12"
      role="img"
      aria-label={`From ${sinceOrigin(scheduledAt)} to ${sinceOrigin(end)} after the build began`}
    >
      <use href="#grid" />
      <Span timeline={timeline} from={scheduledAt} to={startedAt ?? end} class="wait" />
      {startedAt && <Span timeline={timeline} from={startedAt} to={end} class={state} />}
    </svg>
  );
}

function Span({
  timeline,
  from,
  to,
  class: name,
}: {
  timeline: Timeline;
  from: Date;
  to: Date;
  class: string;
}) {
  const isWait = name === "wait";
  const length = percent(timeline, to.getTime()) - percent(timeline, from.getTime());
  if (isWait && length < minPercent) return null;
  const width = Math.max(length, minPercent);
  const x = Math.min(percent(timeline, from.getTime()), 100 - width);
  return (
    <rect
      class={name}
      x={inPercent(x)}
      width={inPercent(width)}
      y={isWait ? 4 : 0}
      height={isWait ? 4 : 12}
      rx={isWait ? 2 : 3}
    />
  );
}

/** The times of the grid, above the bars. */
export function Axis({ timeline }: { timeline: Timeline }) {
  const ticks = ticksOf(timeline);
  return (
    <svg class="axis" width="100%" height="16" aria-hidden="true">
      <defs>
        <g id="grid">
          {ticks.map((at) => (
            <line
              key={at}
              x1={inPercent(percent(timeline, at))}
              x2={inPercent(percent(timeline, at))}
              y2="100%"
            />
          ))}
        </g>
      </defs>
      {ticks.map((at) => (
        <text
          key={at}
          x={inPercent(percent(timeline, at))}
          y="11"
          text-anchor={anchorAt(percent(timeline, at))}
        >
          {at === timeline.origin ? "0" : durationInWords(new Date(timeline.origin), new Date(at))}
        </text>
      ))}
    </svg>
  );
}

function ticksOf({ origin, from, to }: Timeline): number[] {
  const length = tickLengths.find((each) => (to - from) / each <= maxTicks) ?? daysOf(to - from);
  const first = Math.ceil((from - origin) / length);
  const last = Math.floor((to - origin) / length);
  return Array.from({ length: last - first + 1 }, (_, index) => origin + (first + index) * length);
}

/** Whole days. */
function daysOf(ms: number): number {
  return Math.ceil(ms / dayMs / maxTicks) * dayMs;
}

/** Texts at the edges stay inside. */
function anchorAt(place: number): "start" | "middle" | "end" {
  if (place < 5) return "start";
  return place > 92 ? "end" : "middle";
}

function percent({ from, to }: Timeline, at: number): number {
  return (Math.max(0, at - from) / (to - from)) * 100;
}

function inPercent(value: number): string {
  return `${Math.round(value * 100) / 100}%`;
}
