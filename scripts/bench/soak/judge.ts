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

/** A figure is flat if its median in the last third of a phase is at most this much above that in the second. */
export const maxGrowth = 1.1;
/** Small figures may grow by this much more. */
const allowances: [ending: string, allowance: number][] = [
  [" MB", 2],
  [" descriptors", 5],
  [" keys", 20],
  [" s", 2],
];
/** They grow with what is stored. */
const stored = ["database MB", "payloads MB"];
/** A payload is counted once it is ten minutes old, by a background job that runs every ten minutes. */
const uncountedSeconds = 20 * 60;
/** Of that job, and of the sample. */
const lateSeconds = 60;

export function judge(samples: Sample[], maxPayloadBytes: number): Verdict[] {
  const ofPhase = Map.groupBy(samples, ({ phase }) => phase);
  const flat = [...ofPhase].flatMap(([phase, own]) =>
    Object.keys(own[0]?.figures ?? {})
      .filter((column) => !stored.includes(column))
      .map((column) => judgeFlat(phase, own, column)),
  );
  const steady = ofPhase.get("steady") ?? [];
  return [
    ...flat,
    ...(steady.length > 0 ? [judgeDisk(steady)] : []),
    ...(ofPhase.has("flood") ? [judgePayloads(samples, maxPayloadBytes)] : []),
  ];
}

function judgeFlat(phase: PhaseName, samples: Sample[], column: string): Verdict {
  const [, middle, last] = thirdsOf(samples).map((third) =>
    median(third.map(({ figures }) => figures[column] ?? Number.NaN)),
  ) as [number, number, number];
  const allowance = allowances.find(([ending]) => column.endsWith(ending))?.[1] ?? 0;
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
  const { figures, deliveries } =
    samples.findLast(({ phase }) => phase === "steady") ?? (samples[0] as Sample);
  const size = (bytesOf(figures) / deliveries) * maxGrowth; // nothing is evicted yet
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

function bytesOf(figures: Sample["figures"]): number {
  return (figures["payloads MB"] ?? 0) * megabyte;
}

function thirdsOf(samples: Sample[]): Sample[][] {
  const length = samples.length / 3;
  return [0, 1, 2].map((third) => samples.slice(Math.floor(third * length), Math.ceil((third + 1) * length)));
}
