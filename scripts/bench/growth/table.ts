import { kilobyte } from "../bodies.ts";
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

const pageAims = { p95: 100, stallMs: 20, kilobytes: 300 };

/** Renders each page of the installation with the most rows. `!` marks a missed aim. */
export function formatPages(name: string, { cases }: GroupResult): string {
  const { p95, stallMs, kilobytes } = pageAims;
  const rows = cases.map(({ title, rounds }) => {
    const turns = rounds.flatMap((round) => round[name] ?? []);
    const ms = turns.flatMap((turn) => turn.ms).sort((a, b) => a - b);
    const stalls = turns.map((turn) => turn.stallMs).sort((a, b) => a - b);
    return [
      `  ${title}`,
      mark(percentile(ms, 0.95), p95),
      mark(percentile(stalls, 0.5), stallMs),
      mark(percentile(stalls, 1), stallMs),
      mark(Math.max(...turns.map((turn) => turn.bytes)) / kilobyte, kilobytes),
    ];
  });
  const header = [
    `Pages with ${Number(name).toLocaleString("en")} rows`,
    `p95 ms (≤ ${p95})`,
    "longest stall of a turn, median, ms",
    `of all turns, ms (≤ ${stallMs})`,
    `HTML KB (≤ ${kilobytes})`,
  ];
  return formatTable([header, ...rows]);
}

function rowOf({ title, rounds }: CaseResult, names: string[], maxRatio: number): string[] {
  const [first, ...others] = names.map((name) => figuresOf(rounds.flatMap((round) => round[name] ?? [])));
  const figures = first ? [first, ...others] : [];
  return [
    `  ${title}`,
    ...figures.flatMap(({ p50, p99, cpu }) => [p50, p99, cpu].map(formatNumber)),
    ...others.flatMap(({ p50, cpu }) =>
      [p50 / (first?.p50 ?? 0), cpu / (first?.cpu ?? 0)].map((ratio) => mark(ratio, maxRatio)),
    ),
  ];
}

function mark(value: number, aim: number): string {
  return `${formatNumber(value)}${value > aim ? " !" : "  "}`;
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
