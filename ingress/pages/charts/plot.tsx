import { type ScaleLinear, scaleUtc } from "d3-scale";
import type { ComponentChildren } from "preact";
import { dayMs } from "../../../shared/durations.ts";
import { endOf } from "./times.ts";

export const plotHeight = 150;
/** Room for the topmost label. */
export const plotTop = 16;
const height = plotTop + plotHeight + 20;

const compact = new Intl.NumberFormat("en", { notation: "compact" });
const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "short", timeZone: "UTC" });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "short", timeZone: "UTC" });

type Scale = ScaleLinear<number, number>;

/**
 * A chart with a grid and times.
 * @param props.background is drawn behind the grid
 * @param props.children paths: one unit wide for each time, and `plotHeight` high
 */
export function Plot({
  label,
  times,
  scale,
  background,
  children,
}: {
  label: string;
  times: Date[];
  scale: Scale;
  background?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <svg width="100%" height={height} role="img" aria-label={label}>
      {background}
      <Grid scale={scale} />
      <Times times={times} />
      <svg
        aria-hidden="true"
        y={plotTop}
        width="100%"
        height={plotHeight}
        viewBox={`0 0 ${times.length} ${plotHeight}`}
        preserveAspectRatio="none"
      >
        {children}
      </svg>
      <GridLabels scale={scale} />
    </svg>
  );
}

function gridValues(scale: Scale): number[] {
  return scale.ticks(3).filter(Number.isInteger);
}

/** Lines at round values. */
function Grid({ scale }: { scale: Scale }) {
  return (
    <>
      {gridValues(scale).map((value) => (
        <line key={value} x2="100%" y1={plotTop + scale(value)} y2={plotTop + scale(value)} />
      ))}
    </>
  );
}

/** The values of the lines, at the left of the plot. */
function GridLabels({ scale }: { scale: Scale }) {
  const values = gridValues(scale).filter((value) => value > 0);
  return (
    <>
      {values.map((value) => (
        <text key={value} class="value" x="-8" y={plotTop + scale(value)} dy="4">
          {compact.format(value)}
        </text>
      ))}
    </>
  );
}

/** Days, or hours of up to two days. */
function Times({ times }: { times: Date[] }) {
  const [from = new Date(0), second = from] = times;
  if (second.getTime() - from.getTime() === dayMs) return <Days days={times} />;
  const x = scaleUtc([from, endOf(times)], [0, 100]);
  const bottom = plotTop + plotHeight;
  // The labels fit on a phone.
  const [format, count] = endOf(times).getTime() - from.getTime() > 2 * dayMs ? [weekday, 7] : [clock, 4];
  const ticks = x.ticks(count).filter((time) => time < endOf(times));
  return (
    <>
      {ticks.map((time) => (
        <g key={time.getTime()}>
          <line x1={`${x(time)}%`} x2={`${x(time)}%`} y1={bottom} y2={bottom + 5} />
          <text x={`${x(time)}%`} y={bottom + 17} dx="3">
            {format.format(time)}
          </text>
        </g>
      ))}
    </>
  );
}

/** The names of days, each below its bar. */
function Days({ days }: { days: Date[] }) {
  return (
    <>
      {days.map((day, at) => (
        <text
          key={day.getTime()}
          class="day"
          x={`${(100 * (at + 0.5)) / days.length}%`}
          y={plotTop + plotHeight + 17}
        >
          {weekday.format(day)}
        </text>
      ))}
    </>
  );
}
