import { formatNumber, median } from "../scratch/figures.ts";
import { step } from "../scratch/progress.ts";
import type { CpuTimes } from "./machine/cpu.ts";
import type { Cell, Table } from "./results.ts";

/** By contestant. */
export type Round<Result> = Record<string, Result>;
/** By contestant: for ourselves of the figure, for others of the ratio. */
export type Aims = Record<string, string>;

/** One quantity, measured in each round. */
export interface Line {
  title: string;
  rounds: Round<number>[];
  aims: Aims;
}

/** Units of work that a contestant has done in a turn. */
export interface Done {
  accepted: number;
  seconds: number;
  /** Of one unit. */
  cpu: CpuTimes;
}

/** Lets contestants take turns: a change of the machine's speed affects all. A first round is for warming up. */
export async function interleave<Contestant extends { name: string }, Result>(
  contestants: readonly Contestant[],
  { rounds, title }: { rounds: number; title: string },
  turn: (contestant: Contestant, isWarmUp: boolean) => Promise<Result>,
): Promise<Round<Result>[]> {
  const found: Round<Result>[] = [];
  for (let at = 0; at <= rounds; at++) {
    const round: Round<Result> = {};
    for (const contestant of contestants) {
      step(`${title}, ${at === 0 ? "warming up" : `${at} of ${rounds}`}: ${contestant.name}`);
      round[contestant.name] = await turn(contestant, at === 0);
    }
    if (at > 0) found.push(round);
  }
  return found;
}

export function pickEach<From, To>(rounds: Round<From>[], pick: (result: From) => To): Round<To>[] {
  const ofRound = (round: Round<From>) => Object.entries(round).map(([name, result]) => [name, pick(result)]);
  return rounds.map((round) => Object.fromEntries(ofRound(round)));
}

export function lineOf<Result>(
  title: string,
  rounds: Round<Result>[],
  pick: (result: Result) => number,
  aims: Aims = {},
): Line {
  return { title, rounds: pickEach(rounds, pick), aims };
}

export function cpuLines(prefix: string, rounds: Round<{ cpu: CpuTimes }>[], aims?: Aims): Line[] {
  const names = new Set(
    rounds.flatMap((round) => Object.values(round).flatMap(({ cpu }) => Object.keys(cpu))),
  );
  return [...names].map((name) =>
    lineOf(`${prefix}${name}, CPU µs`, rounds, ({ cpu }) => cpu[name] ?? Number.NaN, aims),
  );
}

/** Work a second, and the CPU time of one unit. */
export function rateLines(title: string, rounds: Round<Done>[], aims?: Aims, cpuAims?: Aims): Line[] {
  return [lineOf(title, rounds, perSecond, aims), ...cpuLines("  ", rounds, cpuAims)];
}

export function perSecond({ accepted, seconds }: Pick<Done, "accepted" | "seconds">): number {
  return accepted / seconds;
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
export function compare(columns: Record<string, string>, lines: Line[]): Table {
  const names = Object.keys(columns);
  const ours = names.at(-1) ?? "";
  const others = names.slice(0, -1);
  const short = (name: string) => columns[name]?.replace(/^.*, /, "");
  return {
    columns: ["", ...Object.values(columns), ...others.map((name) => `÷ ${short(name)}`)],
    rows: lines.map(({ title, rounds, aims }) => [
      title,
      ...names.map((name) => cell(figureOf(rounds, name), name === ours ? aims[name] : undefined)),
      // The machine's speed changes by the second: compare within rounds.
      ...others.map((name) => cell(figureOf(rounds.map(ratioTo(ours, name)), name), aims[name])),
    ]),
  };
}

/** NaN if the contestant took no part. */
function figureOf(rounds: Round<number>[], name: string): number {
  return median(rounds.flatMap((round) => round[name] ?? []));
}

const ratioTo =
  (ours: string, theirs: string) =>
  ({ [ours]: dividend, [theirs]: divisor }: Round<number>): Round<number> =>
    dividend === undefined || divisor === undefined ? {} : { [theirs]: dividend / divisor };

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
