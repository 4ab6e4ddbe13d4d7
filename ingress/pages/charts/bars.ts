import { type ScaleLinear, scaleLinear } from "d3-scale";
import { stack } from "d3-shape";

/** Values that are drawn in one color. */
export interface Series {
  name: string;
  /** The class of its color. */
  kind: string;
  values: number[];
}

/** The lowest bar, as a part of the axis. A lower one would be invisible. */
const minShare = 0.02;

/** Scales values, from 0 to a round number above the highest, to heights. */
export function heightScale(highest: number, height: number): ScaleLinear<number, number> {
  return scaleLinear([0, Math.max(1, highest)], [height, 0]).nice(3);
}

export function highestStack(series: Series[]): number {
  return Math.max(0, ...(series[0]?.values ?? []).map((_, at) => sumAt(series, at)));
}

/** A path for each series, stacked in their order. Bars are one unit apart. */
export function barPaths(series: Series[], height: ScaleLinear<number, number>) {
  const lowest = (height.domain()[1] ?? 0) * minShare;
  const stacked = stack<number, Series>()
    .keys(series)
    .value((at, { values }) => {
      const value = values[at] ?? 0;
      return value > 0 ? Math.max(value, lowest) : 0;
    })((series[0]?.values ?? []).map((_, at) => at));
  return stacked.map((bars) => ({
    kind: bars.key.kind,
    path: bars.map(([from, to], at) => (to > from ? bar(at, height(from), height(to)) : "")).join(""),
  }));
}

export function sumAt(series: Series[], at: number): number {
  return series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0);
}

export function sumOf({ values }: Series): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function bar(at: number, bottom: number, top: number): string {
  const round = (value: number) => Math.round(value * 10) / 10;
  return `M${at + 0.1} ${round(bottom)}V${round(top)}h.8V${round(bottom)}z`;
}
