import { barPaths, heightScale, highestStack, type Series } from "./bars.ts";

const height = 24;

/** Small bars without axes. @param label for screen readers */
export function Sparkline({ series, label }: { series: Series[]; label: string }) {
  const count = series[0]?.values.length ?? 0;
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${count} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {barPaths(series, heightScale(highestStack(series), height)).map(({ kind, path }) => (
        <path key={kind} class={kind} d={path} />
      ))}
    </svg>
  );
}
