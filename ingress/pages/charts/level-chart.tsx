import { scaleUtc } from "d3-scale";
import { area, curveStepAfter, line } from "d3-shape";
import { chartHeight, Grid, Legend, plotHeight, plotTop, Times, timeInWords } from "./axes.tsx";
import { heightScale, type Series } from "./bars.ts";
import { SeriesTable } from "./series-table.tsx";
import { endOf } from "./times.ts";

export interface Span {
  from: Date;
  to: Date;
}

/** How much there was at a time: the first series as an area, the others as lines. */
export function LevelChart({
  id,
  subject,
  times,
  series,
  shaded,
}: {
  id: string;
  /** What there was, and when. */
  subject: string;
  times: Date[];
  series: Series[];
  /** While the queue was paused. */
  shaded: Span[];
}) {
  const scale = heightScale(Math.max(...series.flatMap(({ values }) => values)), plotHeight);
  const places = [...times.keys(), times.length];
  const valueAt = ({ values }: Series, at: number) => scale(values[Math.min(at, times.length - 1)] ?? 0);
  const [first, ...others] = series;
  return (
    <figure class="chart">
      <Legend series={series} inWords={inWords} title={subject} />
      <svg
        width="100%"
        height={chartHeight}
        role="img"
        aria-label={`${subject}: ${series.map(inWords).join(", ")}`}
      >
        <Shades times={times} spans={shaded} />
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
          {first && (
            <path
              class={first.kind}
              d={
                area<number>(
                  (at) => at,
                  plotHeight,
                  (at) => valueAt(first, at),
                ).curve(curveStepAfter)(places) ?? ""
              }
            />
          )}
          {others.map((each) => (
            <path
              key={each.kind}
              class={`line ${each.kind}`}
              d={
                line<number>(
                  (at) => at,
                  (at) => valueAt(each, at),
                ).curve(curveStepAfter)(places) ?? ""
              }
            />
          ))}
        </svg>
      </svg>
      <SeriesTable id={id} caption={subject} times={times} series={series} />
    </figure>
  );
}

function Shades({ times, spans }: { times: Date[]; spans: Span[] }) {
  const [from = new Date(0)] = times;
  const x = scaleUtc([from, endOf(times)], [0, 100]).clamp(true);
  return (
    <>
      {spans.map((span) => (
        <rect
          key={span.from.getTime()}
          class="shade"
          x={`${x(span.from)}%`}
          y={plotTop}
          width={`${x(span.to) - x(span.from)}%`}
          height={plotHeight}
        >
          <title>{`Paused from ${timeInWords(span.from)} to ${timeInWords(span.to)}`}</title>
        </rect>
      ))}
    </>
  );
}

function inWords({ name, values }: Series): string {
  return `${name.toLowerCase()}: at most ${Math.max(...values).toLocaleString("en")}`;
}
