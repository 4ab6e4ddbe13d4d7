import type { Figure } from "../../../shared/figures/store.ts";
import type { RefusalCount } from "../../../shared/triggers/deliveries/refusal-counts-store.ts";
import type { FigureName } from "../../../shared/vocabulary.ts";
import type { Series } from "./bars.ts";
import { combineByTime, sum } from "./times.ts";

const kinds: [figure: FigureName, name: string, kind: string][] = [
  ["deliveries_built", "Built", "tone-passed"],
  ["deliveries_filtered", "Not run", "tone-other"],
  ["deliveries_undecided", "Undecided after 10 minutes", "tone-runs"],
  ["deliveries_failed", "Failed", "tone-failed"],
];

/** Deliveries of each hour, by outcome. */
export function deliverySeries(hours: Date[], figures: Figure[]): Series[] {
  return kinds.map(([figure, name, kind]) => {
    const rows = figures.filter((row) => row.figure === figure);
    return { name, kind, values: combineByTime(hours, rows, sum) };
  });
}

export function refusedSeries(hours: Date[], counts: RefusalCount[]): Series {
  const rows = counts.map(({ hour, count }) => ({ time: hour, value: count }));
  return { name: "Refused", kind: "tone-waits", values: combineByTime(hours, rows, sum) };
}
