import { barPaths, heightScale, highestStack, type Series, sumOf } from "./bars.ts";
import { Legend } from "./legend.tsx";
import { Plot, plotHeight } from "./plot.tsx";
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
  /** The things that are counted, in the plural. */
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
      <Plot label={`${title}: ${series.map(inWords).join(", ")}`} times={times} scale={scale}>
        {barPaths(series, scale).map(({ kind, path }) => (
          <path key={kind} class={kind} d={path} />
        ))}
      </Plot>
      <SeriesTable id={id} caption={title} times={times} series={series} />
    </figure>
  );
}

function inWords(series: Series): string {
  return `${sumOf(series).toLocaleString("en")} ${series.name.toLowerCase()}`;
}
