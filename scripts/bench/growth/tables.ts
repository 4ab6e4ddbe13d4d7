import { percentile } from "../../scratch/figures.ts";
import { kilobyte } from "../bodies.ts";
import { marked, rounded } from "../comparison.ts";
import type { Cell, Table } from "../results.ts";
import type { CaseGroup } from "./cases.ts";
import type { CaseResult, Turn } from "./measure.ts";

const pageAims = { p95: 100, stallMs: 20, kilobytes: 300 };

export interface Found extends Omit<CaseGroup, "cases"> {
  cases: CaseResult[];
}

/** Has p50, p99 and CPU time by number of rows, then ratios to the fewest rows. */
export function growthTable(names: string[], groups: Found[]): Table {
  const titles = names.map(titleOf);
  const [first = "", ...others] = titles;
  const ofRows = titles.flatMap((title) => [`${title}: p50 ms`, "p99 ms", "CPU µs"]);
  const ratios = others.flatMap((title) => [`${title} ÷ ${first}: p50`, "CPU"]);
  return {
    columns: ["", ...ofRows, ...ratios],
    rows: groups.flatMap((group) => [
      [`${group.title} (÷ ≤ ${group.maxRatio})`],
      ...group.cases.map((each) => rowOf(each, names, group)),
    ]),
  };
}

function rowOf({ title, rounds }: CaseResult, names: string[], { maxRatio, maxCpu }: Found): Cell[] {
  const figures = names.map((name) => {
    const turns = turnsOf(rounds, name);
    const ms = sortedMs(turns);
    const cpu = turns.reduce((sum, turn) => sum + turn.cpuMicroseconds, 0) / ms.length;
    return { p50: percentile(ms, 0.5), p99: percentile(ms, 0.99), cpu };
  });
  const [least, ...others] = figures;
  const aim = maxCpu?.[title] ?? Number.POSITIVE_INFINITY;
  return [
    `  ${title}`,
    ...figures.flatMap(({ p50, p99, cpu }) => [rounded(p50), rounded(p99), marked(cpu, aim)]),
    ...others.flatMap(({ p50, cpu }) => [
      marked(p50 / (least?.p50 ?? 0), maxRatio),
      marked(cpu / (least?.cpu ?? 0), maxRatio),
    ]),
  ];
}

/** Has each page of the installation with the most rows. */
export function pagesTable(name: string, cases: CaseResult[]): Table {
  const { p95, stallMs, kilobytes } = pageAims;
  return {
    columns: [
      `Pages with ${titleOf(name)} rows`,
      `p95 ms (≤ ${p95})`,
      "longest stall of a turn, median, ms",
      `of all turns, ms (≤ ${stallMs})`,
      `HTML KB (≤ ${kilobytes})`,
    ],
    rows: cases.map(({ title, rounds }) => {
      const turns = turnsOf(rounds, name);
      const stalls = turns.map((turn) => turn.stallMs).sort((a, b) => a - b);
      return [
        `  ${title}`,
        marked(percentile(sortedMs(turns), 0.95), p95),
        marked(percentile(stalls, 0.5), stallMs),
        marked(percentile(stalls, 1), stallMs),
        marked(Math.max(...turns.map((turn) => turn.bytes)) / kilobyte, kilobytes),
      ];
    }),
  };
}

/** Names the cases that got another status, such as 503 after a deadline. */
export function refusals(cases: CaseResult[], names: string[]): string[] {
  return cases.flatMap(({ title, rounds }) =>
    names.flatMap((name) => {
      const refused = turnsOf(rounds, name).reduce((sum, turn) => sum + turn.refused, 0);
      return refused > 0 ? [`! ${title}, ${name} rows: ${refused} answers with another status.`] : [];
    }),
  );
}

function titleOf(rows: string): string {
  return Number(rows).toLocaleString("en");
}

function turnsOf(rounds: CaseResult["rounds"], name: string): Turn[] {
  return rounds.flatMap((round) => round[name] ?? []);
}

function sortedMs(turns: Turn[]): number[] {
  return turns.flatMap(({ ms }) => ms).sort((a, b) => a - b);
}
