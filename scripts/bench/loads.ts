import { type Line, lineOf, type Round } from "./comparison.ts";
import type { LoadResult } from "./load/generator.ts";
import { type CpuTimes, cpuPerRequest, type Pids } from "./machine/cpu.ts";

/** CPU microseconds are of one accepted request. */
export interface Measured extends LoadResult {
  cpu: CpuTimes;
}

/** Half of the saturation rate: queueing hides no latency. */
export interface BothLoads {
  full: Measured;
  half: Measured;
}

/** @param send sends at this rate; undefined: as fast as answers come */
export async function measureBothLoads(
  pids: Pids,
  { prepare, send }: { prepare: () => Promise<void>; send: (perSecond?: number) => Promise<LoadResult> },
): Promise<BothLoads> {
  const measure = async (perSecond?: number) => {
    await prepare();
    return cpuPerRequest(pids, () => send(perSecond));
  };
  const full = await measure();
  return { full, half: await measure(full.perSecond / 2) };
}

/** @param aims of the saturation rate, and of the p99 at half load */
export function linesOfBothLoads<Name extends string>(
  title: string,
  rounds: Round<Name, BothLoads>[],
  aims: { rate?: Line<Name>["aims"]; p99?: Line<Name>["aims"] } = {},
): Line<Name>[] {
  const half = "  at half load: ";
  const resets = lineOf("  connections reset", rounds, ({ full, half }) => full.resets + half.resets);
  return [
    lineOf(`${title}/s`, rounds, ({ full }) => full.perSecond, aims.rate),
    lineOf("  p50 ms", rounds, ({ full }) => full.p50),
    lineOf("  p99 ms", rounds, ({ full }) => full.p99),
    ...cpuLines("  ", rounds, ({ full }) => full.cpu),
    lineOf(`${half}p50 ms`, rounds, ({ half }) => half.p50),
    lineOf(`${half}p99 ms`, rounds, ({ half }) => half.p99, aims.p99),
    ...cpuLines(half, rounds, ({ half }) => half.cpu),
    ...(resets.rounds.some((round) => Object.values(round).some(Boolean)) ? [resets] : []),
  ];
}

export function cpuLines<Name extends string, Result>(
  prefix: string,
  rounds: Round<Name, Result>[],
  pick: (result: Result) => CpuTimes,
): Line<Name>[] {
  const all = rounds.flatMap((round) => Object.values<Result>(round as Record<string, Result>));
  const names = new Set(all.flatMap((result) => Object.keys(pick(result))));
  return [...names].map((name) =>
    lineOf(`${prefix}${name}, CPU µs`, rounds, (result) => pick(result)[name] ?? Number.NaN),
  );
}
