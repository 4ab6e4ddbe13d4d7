import { scaleUtc } from "d3-scale";
import { area, curveStepAfter, line } from "d3-shape";
import { heightScale, type Series } from "./bars.ts";
import { Legend } from "./legend.tsx";
import { Plot, plotHeight, plotTop } from "./plot.tsx";
import { SeriesTable } from "./series-table.tsx";
import { endOf, timeInWords } from "./times.ts";

export interface Span {
  from: Date;
  to: Date;
}

/** Draws the first series as an area and the others as lines. */
export function LevelChart({
  id,
  subject,
  times,
  series,
  sampled,
  shaded = [],
}: {
  id: string;
  /** The title. */
  subject: string;
  times: Date[];
  series: Series[];
  /** True for each time at which a worker counted. */
  sampled: boolean[];
  /** While the queue was paused. */
  shaded?: Span[];
}) {
  const scale = heightScale(Math.max(...series.flatMap(({ values }) => values)), plotHeight);
  const seen = runsOf(sampled, true);
  const gaps = runsOf(sampled, false).map(({ from, to }) => ({
    from: times[from] ?? endOf(times),
    to: times[to] ?? endOf(times),
  }));
  const places = [...times.keys(), times.length];
  const draw = (shape: (places: number[]) => string | null) =>
    seen.map(({ from, to }) => shape(places.slice(from, to + 1))).join("");
  const valueAt = ({ values }: Series, at: number) => {
    // A value stays until the next time.
    const isEnd = seen.some(({ to }) => to === at);
    return scale(values[isEnd ? at - 1 : at] ?? 0);
  };
  const [first, ...others] = series;
  return (
    <figure class="chart">
      <Legend
        series={[...series, ...(gaps.length > 0 ? [notSampled] : [])]}
        inWords={inWords}
        title={subject}
      />
      <Plot
        label={[`${subject}: ${series.map(inWords).join(", ")}`, ...gapsInWords(gaps)].join(". ")}
        times={times}
        scale={scale}
        background={
          <>
            <Shades times={times} spans={shaded} kind="shade" inWords={pauseInWords} />
            <Shades times={times} spans={gaps} kind="gap" inWords={gapInWords} />
          </>
        }
      >
        {first && (
          <path
            class={first.kind}
            d={draw(
              area<number>(
                (at) => at,
                plotHeight,
                (at) => valueAt(first, at),
              ).curve(curveStepAfter),
            )}
          />
        )}
        {others.map((each) => (
          <path
            key={each.kind}
            class={`line ${each.kind}`}
            d={draw(
              line<number>(
                (at) => at,
                (at) => valueAt(each, at),
              ).curve(curveStepAfter),
            )}
          />
        ))}
      </Plot>
      <SeriesTable id={id} caption={subject} times={times} series={series} />
    </figure>
  );
}

const notSampled: Series = { name: "Not sampled", kind: "gap", values: [] };

/** Ranges of neighbors that are `value`; `to` is the first place after them. */
function runsOf(values: boolean[], value: boolean): { from: number; to: number }[] {
  const starts = [...values.keys()].filter((at) => values[at] === value && values[at - 1] !== value);
  return starts.map((from) => {
    const end = values.indexOf(!value, from);
    return { from, to: end < 0 ? values.length : end };
  });
}

function Shades({
  times,
  spans,
  kind,
  inWords,
}: {
  times: Date[];
  spans: Span[];
  kind: "shade" | "gap";
  inWords: (span: Span) => string;
}) {
  const [from = new Date(0)] = times;
  const x = scaleUtc([from, endOf(times)], [0, 100]).clamp(true);
  return (
    <>
      {spans.map((span) => (
        <rect
          key={span.from.getTime()}
          class={kind}
          x={`${x(span.from)}%`}
          y={plotTop}
          width={`${x(span.to) - x(span.from)}%`}
          height={plotHeight}
        >
          <title>{inWords(span)}</title>
        </rect>
      ))}
    </>
  );
}

function pauseInWords({ from, to }: Span): string {
  return `Paused from ${timeInWords(from)} to ${timeInWords(to)}`;
}

/** Names up to three gaps, and only counts more. */
function gapsInWords(gaps: Span[]): string[] {
  return gaps.length > 3 ? [`${gaps.length} gaps without samples`] : gaps.map(gapInWords);
}

function gapInWords({ from, to }: Span): string {
  return `Not sampled from ${timeInWords(from)} to ${timeInWords(to)}`;
}

function inWords({ name, values }: Series): string {
  if (values.length === 0) return name.toLowerCase();
  return `${name.toLowerCase()}: at most ${Math.max(...values).toLocaleString("en")}`;
}
