import type { Options } from "./bench.ts";
import { interleave, type Line, lineOf, type Round } from "./comparison.ts";
import type { Load } from "./load/generator.ts";
import type { Generator } from "./load/load.ts";
import { type CpuTimes, cpuPerRequest, type Pids } from "./machine/cpu.ts";
import { takeStallMs } from "./machine/stalls.ts";
import type { Fsync, ScratchRedis } from "./redis.ts";

/** A server that takes requests. */
export interface Contestant<Name extends string> {
  name: Name;
  fsync: Fsync;
  /** Its processes, whose CPU time counts. */
  pids: Pids;
  /** Undefined: the server does not measure its event loop. */
  metricsPort?: number;
}

export interface Track<Server> {
  redis: ScratchRedis;
  servers: Server[];
  generator: Generator;
}

interface Course<Name extends string, Server> {
  title: string;
  load(server: Server, seconds: number, isPaced: boolean): Load | Promise<Load>;
  /** Of the saturation rate and of the p99 at half load, on SQLite. */
  aims: { rate?: Line<Name>["aims"]; p99?: Line<Name>["aims"] };
}

/** V8 reaches full speed after seconds of load. */
const maxWarmUpSeconds = 3;

/** Measures servers in turns: at saturation, then at half of that rate, where queueing hides no latency. */
export async function measureLoads<Name extends string, Server extends Contestant<Name>>(
  { redis, servers, generator }: Track<Server>,
  { title, load, aims }: Course<Name, Server>,
  { rounds, seconds, postgres }: Options,
): Promise<Line<Name>[]> {
  const measure = async (server: Server, turnSeconds: number, perSecond?: number) => {
    const sent = { ...(await load(server, turnSeconds, perSecond !== undefined)), perSecond };
    await redis.prepare(server.fsync);
    await stallOf(server);
    const result = await cpuPerRequest(server.pids, () => generator(sent));
    return { ...result, stallMs: await stallOf(server) };
  };
  const found = await interleave(servers, { rounds, title }, async (server, isWarmUp) => {
    const turnSeconds = isWarmUp ? Math.min(maxWarmUpSeconds, seconds) : seconds;
    const full = await measure(server, turnSeconds);
    return { full, half: await measure(server, turnSeconds, full.perSecond / 2) };
  });
  const half = "  at half load: ";
  const stalls = lineOf("  longest stall of a turn, ms", maxStalls(found), ({ stallMs }) => stallMs);
  const resets = lineOf("  connections reset", found, ({ full, half }) => full.resets + half.resets);
  const { rate, p99 } = postgres ? {} : aims;
  return [
    lineOf(`${title}/s`, found, ({ full }) => full.perSecond, rate),
    lineOf("  p50 ms", found, ({ full }) => full.p50),
    lineOf("  p99 ms", found, ({ full }) => full.p99),
    ...cpuLines("  ", found, ({ full }) => full.cpu),
    lineOf(`${half}p50 ms`, found, ({ half }) => half.p50),
    lineOf(`${half}p99 ms`, found, ({ half }) => half.p99, p99),
    ...cpuLines(half, found, ({ half }) => half.cpu),
    ...(servers.some(({ metricsPort }) => metricsPort) ? [stalls] : []),
    ...(resets.rounds.some((round) => Object.values(round).some(Boolean)) ? [resets] : []),
  ];
}

interface Stalled {
  stallMs: number;
}

/** NaN for a server that does not measure it. */
async function stallOf({ metricsPort }: Pick<Contestant<string>, "metricsPort">): Promise<number> {
  return metricsPort === undefined ? Number.NaN : takeStallMs({ metricsPort });
}

/** All rounds have the longest of all: a median would hide it. */
function maxStalls<Name extends string>(rounds: Round<Name, { full: Stalled; half: Stalled }>[]) {
  const names = Object.keys(rounds[0] ?? {}) as Name[];
  const longest = names.map((name) => {
    const turns = rounds.flatMap((round) => [round[name]?.full, round[name]?.half]);
    return [name, { stallMs: Math.max(...turns.map((turn) => turn?.stallMs ?? 0)) }];
  });
  return rounds.map(() => Object.fromEntries(longest) as Round<Name, Stalled>);
}

export function cpuLines<Name extends string, Result>(
  prefix: string,
  rounds: Round<Name, Result>[],
  pick: (result: Result) => CpuTimes,
  aims?: Line<Name>["aims"],
): Line<Name>[] {
  const all = rounds.flatMap((round) => Object.values<Result>(round as Record<string, Result>));
  const names = new Set(all.flatMap((result) => Object.keys(pick(result))));
  return [...names].map((name) =>
    lineOf(`${prefix}${name}, CPU µs`, rounds, (result) => pick(result)[name] ?? Number.NaN, aims),
  );
}
