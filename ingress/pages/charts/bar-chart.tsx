import { chartHeight, Grid, GridLabels, Legend, plotHeight, plotTop, Times } from "./axes.tsx";
import { barPaths, heightScale, highestStack, type Series, sumOf } from "./bars.ts";
import { SeriesTable } from "./series-table.tsx";

/** Bars of hours or days, a legend, and a table that unfolds. Series without any value are left out. */
export function BarChart({
  id,
  subject,
  unit,
  times,
  series: all,
}: {
  id: string;
  /** What is counted, in the plural. */
  subject: string;
  unit: "hour" | "day";
  times: Date[];
  series: Series[];
}) {
  const series = all.filter((each) => sumOf(each) > 0);
  const title = `${subject} by the ${unit}`;
  const scale = heightScale(highestStack(series), plotHeight);
  return (
    <figure class="chart">
      <Legend title={title} series={series} inWords={inWords} />
      <svg
        width="100%"
        height={chartHeight}
        role="img"
        aria-label={`${title}: ${series.map(inWords).join(", ")}`}
      >
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
          {barPaths(series, scale).map(({ kind, path }) => (
            <path key={kind} class={kind} d={path} />
          ))}
        </svg>
        <GridLabels scale={scale} />
      </svg>
      <SeriesTable id={id} caption={title} times={times} series={series} />
    </figure>
  );
}

function inWords(series: Series): string {
  return `${sumOf(series).toLocaleString("en")} ${series.name.toLowerCase()}`;
}
