import { megabyte } from "../bodies.ts";
import { median } from "../statistics.ts";
import { formatNumber } from "../table.ts";
import type { PhaseName, Sample } from "./sample.ts";

export interface Verdict {
  phase: PhaseName;
  title: string;
  text: string;
  holds: boolean;
}

/** A figure is flat if in the last third of a phase it is at most this much above that in the second. */
export const maxGrowth = 1.1;

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
  // V8 keeps memory that it does not use: its young generation grows in steps of 16 and 32 MB.
  { columns: /^(ingress|worker) MB$/, figure: median, allowance: 48 },
  { columns: /^(Redis|Postgres) MB$/, figure: median, allowance: 5 },
  // SQLite keeps a log of up to 64 MB after a large change.
  { columns: /^WAL MB$/, figure: median, allowance: 64 },
  { columns: / descriptors$/, figure: median, allowance: 5 },
  // Keys of device codes live for ten minutes.
  { columns: / keys$/, figure: median, allowance: 20, fromSeconds: 600 },
  { columns: /^oldest unbuilt s$/, figure: median, allowance: 2 },
];
/** A payload is counted once it is ten minutes old, by a background job that runs every ten minutes. */
const uncountedSeconds = 20 * 60;
/** The delay of that job, and of the sample. */
const lateSeconds = 60;

export function judge(samples: Sample[], maxPayloadBytes: number): Verdict[] {
  const ofPhase = Map.groupBy(samples, ({ phase }) => phase);
  const flat = [...ofPhase].flatMap(([phase, own]) =>
    Object.keys(own[0]?.figures ?? {}).flatMap((column) => {
      const rule = rules.find(({ columns }) => columns.test(column));
      return rule ? [judgeFlat(phase, own, { column, ...rule })] : []; // what is stored grows
    }),
  );
  const steady = ofPhase.get("steady") ?? [];
  return [
    ...flat,
    ...(steady.length > 0 ? [judgeDisk(steady)] : []),
    ...(ofPhase.has("flood") ? [judgePayloads(samples, maxPayloadBytes)] : []),
  ];
}

function judgeFlat(
  phase: PhaseName,
  samples: Sample[],
  { column, figure, allowance, fromSeconds = 0 }: Rule & { column: string },
): Verdict {
  const later = samples.filter(({ seconds }) => seconds >= fromSeconds);
  const [, middle, last] = thirdsOf(later.length > 0 ? later : samples).map((third) =>
    figure(third.map(({ figures }) => figures[column] ?? Number.NaN)),
  ) as [number, number, number];
  const holds = last <= middle * maxGrowth + allowance;
  return { phase, title: column, text: `${formatNumber(middle)} → ${formatNumber(last)}`, holds };
}

/** Bytes that a delivery takes in the database, with its payload, build and job. */
function judgeDisk(samples: Sample[]): Verdict {
  const [, middle, last] = thirdsOf(samples).map((third) => {
    const [first, end] = [third[0], third.at(-1)];
    const megabytes = (end?.figures["database MB"] ?? 0) - (first?.figures["database MB"] ?? 0);
    return (megabytes * megabyte) / ((end?.deliveries ?? 0) - (first?.deliveries ?? 0));
  }) as [number, number, number];
  return {
    phase: "steady",
    title: "database, bytes a delivery",
    text: `${formatNumber(middle)} → ${formatNumber(last)}`,
    holds: last <= middle * maxGrowth,
  };
}

/** At no time is more stored than the cap and what came since the last run could count it. */
function judgePayloads(samples: Sample[], maxPayloadBytes: number): Verdict {
  const sizes = samples.filter(({ deliveries }) => deliveries > 0).map(sizeOfStored);
  const size = Math.max(...sizes) * maxGrowth; // as it is before the first eviction
  const shares = samples.map((sample) => {
    const since = sample.seconds - uncountedSeconds - lateSeconds;
    const counted = samples.findLast(({ seconds }) => seconds <= since)?.deliveries ?? 0;
    return bytesOf(sample.figures) / (maxPayloadBytes + size * (sample.deliveries - counted));
  });
  const most = Math.max(...shares);
  return {
    phase: "flood",
    title: "payloads, share of cap and uncounted",
    text: `at most ${formatNumber(most)}`,
    holds: most <= 1,
  };
}

function sizeOfStored({ figures, deliveries }: Sample): number {
  return bytesOf(figures) / deliveries;
}

function bytesOf(figures: Sample["figures"]): number {
  return (figures["payloads MB"] ?? 0) * megabyte;
}

function thirdsOf(samples: Sample[]): Sample[][] {
  const length = samples.length / 3;
  return [0, 1, 2].map((third) => samples.slice(Math.floor(third * length), Math.ceil((third + 1) * length)));
}
