import type { Round } from "./rounds.ts";
import { median } from "./statistics.ts";
import { formatNumber, formatTable } from "./table.ts";

/** One quantity, measured in each round. */
export interface Line<Name extends string> {
  title: string;
  rounds: Round<Name, number>[];
  /** For ourselves a figure, for others a ratio. */
  aims?: Partial<Record<Name, string>>;
}

export function lineOf<Name extends string, Result>(
  title: string,
  rounds: Round<Name, Result>[],
  pick: (result: Result) => number,
  aims: Partial<Record<Name, string>> = {},
): Line<Name> {
  const pickAll = (round: Round<Name, Result>) =>
    Object.fromEntries(
      Object.entries<Result | undefined>(round).flatMap(([name, result]) =>
        result === undefined ? [] : [[name, pick(result)]],
      ),
    ) as Round<Name, number>;
  return { title, rounds: rounds.map(pickAll), aims };
}

/**
 * Shows figures, then our ratio to each contestant.
 * @param columns full titles, and short ones for ratios
 */
export function formatComparison<Name extends string>(
  columns: Record<Name, { title: string; short: string }>,
  ours: Name,
  lines: Line<Name>[],
): string {
  const names = Object.keys(columns) as Name[];
  const others = names.filter((name) => name !== ours);
  const header = [
    "",
    ...names.map((name) => columns[name].title),
    ...others.map((name) => `÷ ${columns[name].short}`),
  ];
  const cells = (line: Line<Name>) => [
    line.title,
    ...names.map((name) => withAim(middle(line, name), name === ours ? line.aims?.[name] : undefined)),
    ...others.map((name) => withAim(ratio(line, ours, name), line.aims?.[name])),
  ];
  return formatTable([header, ...lines.map(cells)]);
}

/** NaN if the contestant took no part. */
function middle<Name extends string>(line: Line<Name>, name: Name): number {
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

function withAim(value: number, aim: string | undefined): string {
  return aim === undefined ? formatNumber(value) : `${formatNumber(value)} (${aim})`;
}
