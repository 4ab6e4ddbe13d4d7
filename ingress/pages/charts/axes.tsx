import { type ScaleLinear, scaleUtc } from "d3-scale";
import { dayMs } from "../../../shared/durations.ts";
import type { Series } from "./bars.ts";
import { endOf } from "./times.ts";

export const plotHeight = 150;
/** Room for the topmost label. */
export const plotTop = 16;
export const chartHeight = plotTop + plotHeight + 20;

const compact = new Intl.NumberFormat("en", { notation: "compact" });
const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "short", timeZone: "UTC" });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "short", timeZone: "UTC" });
const hourFormat = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "UTC",
});

/** A time, as tables name it. */
export function timeInWords(time: Date): string {
  return `${hourFormat.format(time)} UTC`;
}

type Scale = ScaleLinear<number, number>;

function gridValues(scale: Scale): number[] {
  return scale.ticks(3).filter(Number.isInteger);
}

/** Lines at round values. */
export function Grid({ scale }: { scale: Scale }) {
  return (
    <>
      {gridValues(scale).map((value) => (
        <line key={value} x2="100%" y1={plotTop + scale(value)} y2={plotTop + scale(value)} />
      ))}
    </>
  );
}

/** The values of the lines. Comes after the bars, which are as wide as labels. */
export function GridLabels({ scale }: { scale: Scale }) {
  const values = gridValues(scale).filter((value) => value > 0);
  return (
    <>
      {values.map((value) => (
        <text key={value} class="over" y={plotTop + scale(value) - 4}>
          {compact.format(value)}
        </text>
      ))}
    </>
  );
}

/** Days, or hours of up to two days. */
export function Times({ times }: { times: Date[] }) {
  const [from = new Date(0)] = times;
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

/** @param inWords what the legend says of a series */
export function Legend({
  title,
  series,
  inWords,
}: {
  title?: string;
  series: Series[];
  inWords: (series: Series) => string;
}) {
  return (
    <figcaption>
      {title && <strong>{title}</strong>}
      {series.map((each) => (
        <span key={each.kind}>
          <svg width="10" height="10" aria-hidden="true">
            <rect class={each.kind} width="10" height="10" rx="2" />
          </svg>{" "}
          {inWords(each)}
        </span>
      ))}
      <span>times in UTC</span>
    </figcaption>
  );
}
