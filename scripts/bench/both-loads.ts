import { type Line, lineOf } from "./comparison.ts";
import type { LoadResult } from "./load/load.ts";
import { type CpuTimes, type Pids, withCpuTimes } from "./machine/cpu.ts";
import type { Round } from "./rounds.ts";

/** CPU microseconds are per accepted request. */
export interface Measured extends LoadResult {
  cpu: CpuTimes;
}

/** Half of the saturation rate: queueing hides no latency. */
export interface BothLoads {
  full: Measured;
  half: Measured;
}

export async function measureLoad(pids: Pids, load: () => Promise<LoadResult>): Promise<Measured> {
  const { result, cpu } = await withCpuTimes(pids, load);
  return { ...result, cpu: perRequest(cpu, result.accepted) };
}

export async function measureBothLoads(
  pids: Pids,
  loads: {
    prepare: () => Promise<void>;
    saturate: () => Promise<LoadResult>;
    pace: (perSecond: number) => Promise<LoadResult>;
  },
): Promise<BothLoads> {
  await loads.prepare();
  const full = await measureLoad(pids, loads.saturate);
  await loads.prepare();
  const half = await measureLoad(pids, () => loads.pace(full.perSecond / 2));
  return { full, half };
}

export function perRequest(cpu: CpuTimes, requests: number): CpuTimes {
  return Object.fromEntries(Object.entries(cpu).map(([name, time]) => [name, time / requests]));
}

/** @param aims of the saturation rate, and of the p99 at half load */
export function linesOfBothLoads<Name extends string>(
  title: string,
  results: Round<Name, BothLoads>[],
  aims: { rate?: Line<Name>["aims"]; p99?: Line<Name>["aims"] } = {},
): Line<Name>[] {
  return [
    lineOf(`${title}/s`, results, ({ full }) => full.perSecond, aims.rate),
    lineOf("  p50 ms", results, ({ full }) => full.p50),
    lineOf("  p99 ms", results, ({ full }) => full.p99),
    ...cpuLines("  ", results, ({ full }) => full.cpu),
    lineOf("  at half load: p50 ms", results, ({ half }) => half.p50),
    lineOf("  at half load: p99 ms", results, ({ half }) => half.p99, aims.p99),
    ...cpuLines("  at half load: ", results, ({ half }) => half.cpu),
  ];
}

export function cpuLines<Name extends string, Result>(
  prefix: string,
  results: Round<Name, Result>[],
  pick: (result: Result) => CpuTimes,
): Line<Name>[] {
  const all = results.flatMap((round) => Object.values<Result>(round as Record<string, Result>));
  const names = new Set(all.flatMap((result) => Object.keys(pick(result))));
  return [...names].map((name) =>
    lineOf(`${prefix}${name}, CPU µs`, results, (result) => pick(result)[name] ?? Number.NaN),
  );
}
