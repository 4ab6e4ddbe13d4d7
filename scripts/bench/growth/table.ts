import { percentile } from "../statistics.ts";
import { formatNumber, formatTable } from "../table.ts";
import type { CaseResult, GroupResult, Turn } from "./measure.ts";

interface Figures {
  p50: number;
  p99: number;
  cpu: number;
}

/** Renders p50, p99 and CPU time by number of rows, then ratios to the fewest rows. `!` marks a missed aim. */
export function formatGrowth(names: string[], groups: GroupResult[]): string {
  const titles = names.map((name) => Number(name).toLocaleString("en"));
  const [first = "", ...others] = titles;
  const header = [
    "",
    ...titles.flatMap((title) => [`${title}: p50 ms`, "p99 ms", "CPU µs"]),
    ...others.flatMap((title) => [`${title} ÷ ${first}: p50`, "CPU"]),
  ];
  const rows = groups.flatMap(({ title, maxRatio, cases }) => [
    [`${title} (÷ ≤ ${maxRatio})`],
    ...cases.map((each) => rowOf(each, names, maxRatio)),
  ]);
  return [formatTable([header, ...rows]), ...groups.flatMap(({ cases }) => refusals(cases, names))].join(
    "\n",
  );
}

function rowOf({ title, rounds }: CaseResult, names: string[], maxRatio: number): string[] {
  const [first, ...others] = names.map((name) => figuresOf(rounds.flatMap((round) => round[name] ?? [])));
  const mark = (ratio: number) => `${formatNumber(ratio)}${ratio > maxRatio ? " !" : "  "}`;
  const figures = first ? [first, ...others] : [];
  return [
    `  ${title}`,
    ...figures.flatMap(({ p50, p99, cpu }) => [p50, p99, cpu].map(formatNumber)),
    ...others.flatMap(({ p50, cpu }) => [p50 / (first?.p50 ?? 0), cpu / (first?.cpu ?? 0)].map(mark)),
  ];
}

function figuresOf(turns: Turn[]): Figures {
  const ms = turns.flatMap((turn) => turn.ms).sort((a, b) => a - b);
  const cpu = turns.reduce((sum, turn) => sum + turn.cpuMicroseconds, 0) / ms.length;
  return { p50: percentile(ms, 0.5), p99: percentile(ms, 0.99), cpu };
}

function refusals(cases: CaseResult[], names: string[]): string[] {
  return cases.flatMap(({ title, rounds }) =>
    names.flatMap((name) => {
      const turns = rounds.flatMap((round) => round[name] ?? []);
      const refused = turns.reduce((sum, turn) => sum + turn.refused, 0);
      const sent = turns.reduce((sum, turn) => sum + turn.ms.length, 0);
      return refused > 0 ? [`! ${title}, ${name} rows: ${refused} of ${sent} got another status.`] : [];
    }),
  );
}
