import { megabyte } from "../../bench/bodies.ts";
import { formatNumber, median } from "../../scratch/figures.ts";
import type { Sample } from "./sample.ts";

export interface Verdict {
  title: string;
  text: string;
  holds: boolean;
}

/** A figure is flat if in the last third of a run it is at most this much above that in the second. */
const maxGrowth = 1.1;

interface Rule {
  columns: RegExp;
  /** Compares the thirds by this. */
  figure: (values: number[]) => number;
  /** It may grow by so much more. */
  allowance: number;
  /** Earlier samples do not count, unless all are earlier. */
  fromSeconds?: number;
}

/** The first rule of a column counts. */
const rules: Rule[] = [
  // After a collection of garbage.
  { columns: / heap MB$/, figure: (values) => Math.min(...values), allowance: 3 },
  // V8 keeps memory that it does not use.
  { columns: /^(ingress|worker)\S* MB$/, figure: median, allowance: 48 },
  { columns: /^(redis|postgres) MB$/, figure: median, allowance: 5 },
  // SQLite keeps a log of up to 64 MB after a large change.
  { columns: /^WAL MB$/, figure: median, allowance: 64 },
  { columns: / descriptors$/, figure: median, allowance: 5 },
  // Keys of device codes live for ten minutes.
  { columns: / keys$/, figure: median, allowance: 20, fromSeconds: 600 },
  { columns: /^oldest unbuilt s$/, figure: median, allowance: 2 },
];

/** Compares the second and the last third of a run. The first is for caches and pools to fill. */
export function judge(samples: Sample[]): Verdict[] {
  const flat = Object.keys(samples[0]?.figures ?? {}).flatMap((column) => {
    const rule = rules.find(({ columns }) => columns.test(column));
    return rule ? [judgeFlat(samples, { column, ...rule })] : []; // what is stored grows
  });
  return [...flat, judgeDisk(samples)];
}

function judgeFlat(
  samples: Sample[],
  { column, figure, allowance, fromSeconds = 0 }: Rule & { column: string },
): Verdict {
  const later = samples.filter(({ seconds }) => seconds >= fromSeconds);
  const [, middle, last] = thirdsOf(later.length > 0 ? later : samples).map((third) =>
    figure(third.map(({ figures }) => figures[column] ?? Number.NaN)),
  ) as [number, number, number];
  return verdict(column, [middle, last], allowance);
}

/** Bytes that a delivery takes in the database, with its payload, build and job. */
function judgeDisk(samples: Sample[]): Verdict {
  const [, middle, last] = thirdsOf(samples).map((third) => {
    const [first, end] = [third[0], third.at(-1)];
    const megabytes = (end?.figures["database MB"] ?? 0) - (first?.figures["database MB"] ?? 0);
    return (megabytes * megabyte) / ((end?.deliveries ?? 0) - (first?.deliveries ?? 0));
  }) as [number, number, number];
  return verdict("database, bytes a delivery", [middle, last], 0);
}

function verdict(title: string, [middle, last]: [number, number], allowance: number): Verdict {
  const text = `${formatNumber(middle)} → ${formatNumber(last)}`;
  return { title, text, holds: last <= middle * maxGrowth + allowance };
}

function thirdsOf(samples: Sample[]): Sample[][] {
  const length = samples.length / 3;
  return [0, 1, 2].map((third) => samples.slice(Math.floor(third * length), Math.ceil((third + 1) * length)));
}
