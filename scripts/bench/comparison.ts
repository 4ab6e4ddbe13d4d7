import { step } from "../scratch/progress.ts";
import type { Cell, Table } from "./results.ts";
import { median } from "./statistics.ts";
import { formatNumber } from "./table.ts";

/** By contestant. */
export type Round<Name extends string, Result> = Partial<Record<Name, Result>>;

/** Lets contestants take turns: a change of the machine's speed affects all. A first round is for warming up. */
export async function interleave<Name extends string, Contestant extends { name: Name }, Result>(
  contestants: readonly Contestant[],
  { rounds, title }: { rounds: number; title: string },
  turn: (contestant: Contestant, isWarmUp: boolean) => Promise<Result>,
): Promise<Round<Name, Result>[]> {
  const found: Round<Name, Result>[] = [];
  for (let at = 0; at <= rounds; at++) {
    const round: Round<Name, Result> = {};
    for (const contestant of contestants) {
      step(`${title}, ${at === 0 ? "warming up" : `${at} of ${rounds}`}: ${contestant.name}`);
      round[contestant.name] = await turn(contestant, at === 0);
    }
    if (at > 0) found.push(round);
  }
  return found;
}

/** One quantity, measured in each round. */
export interface Line<Name extends string> {
  title: string;
  rounds: Round<Name, number>[];
  /** For ourselves of the figure, for others of the ratio. */
  aims?: Partial<Record<Name, string>>;
}

export function lineOf<Name extends string, Result>(
  title: string,
  rounds: Round<Name, Result>[],
  pick: (result: Result) => number,
  aims: Partial<Record<Name, string>> = {},
): Line<Name> {
  const picked = rounds.map((round) => {
    const entries = Object.entries<Result>(round as Record<string, Result>);
    return Object.fromEntries(entries.map(([name, result]) => [name, pick(result)])) as Round<Name, number>;
  });
  return { title, rounds: picked, aims };
}

/** Begins the legend of a table. */
export const mediansOf = (rounds: number): string =>
  rounds === 1 ? "One round" : `Medians of ${rounds} rounds`;

export const ratioLegend =
  "÷ is Signalbox as a ratio to the other, within each round, then the median; in brackets its aim.";

/**
 * Makes a table of figures, then of ratios of Signalbox to each other contestant.
 * @param columns titles by name, Signalbox last
 */
export function compare<Name extends string>(columns: Record<Name, string>, lines: Line<Name>[]): Table {
  const names = Object.keys(columns) as Name[];
  const ours = names.at(-1) as Name;
  const others = names.slice(0, -1);
  const short = (name: Name) => columns[name].replace(/^.*, /, "");
  return {
    columns: ["", ...names.map((name) => columns[name]), ...others.map((name) => `÷ ${short(name)}`)],
    rows: lines.map((line) => [
      line.title,
      ...names.map((name) => cell(figure(line, name), name === ours ? line.aims?.[name] : undefined)),
      ...others.map((name) => cell(ratio(line, ours, name), line.aims?.[name])),
    ]),
  };
}

/** NaN if the contestant took no part. */
function figure<Name extends string>(line: Line<Name>, name: Name): number {
  return median(line.rounds.flatMap((round) => round[name] ?? []));
}

/** The machine's speed changes by the second: compare within rounds. */
function ratio<Name extends string>(line: Line<Name>, ours: Name, theirs: Name): number {
  return median(
    line.rounds.flatMap(({ [ours]: dividend, [theirs]: divisor }) =>
      dividend === undefined || divisor === undefined ? [] : dividend / divisor,
    ),
  );
}

function cell(value: number, aim: string | undefined): Cell {
  return aim === undefined ? rounded(value) : `${formatNumber(value)} (${aim})`;
}

/** Marks a figure above its aim with `!`. */
export function marked(value: number, aim: number): Cell {
  return value > aim ? `${formatNumber(value)} !` : rounded(value);
}

/** Keeps three significant digits: more are noise. Null for NaN. */
export function rounded(value: number): number | null {
  if (!Number.isFinite(value)) return null;
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}
