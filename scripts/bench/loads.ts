import type { Options } from "./bench.ts";
import { type Aims, cpuLines, interleave, type Line, lineOf, perSecond, pickEach } from "./comparison.ts";
import type { Load } from "./load/generator.ts";
import type { Generator } from "./load/load.ts";
import { cpuPerRequest, type Pids } from "./machine/cpu.ts";
import type { Fsync, ScratchRedis } from "./servers/redis.ts";
import { takeStallMs } from "./servers/signalbox.ts";

/** A server that takes requests. */
export interface Contestant {
  name: string;
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

interface Course<Server> {
  title: string;
  load(server: Server, seconds: number, isPaced: boolean): Load | Promise<Load>;
  /** Of the saturation rate and of the p99 at half load, on SQLite. */
  aims: { rate?: Aims; p99?: Aims };
}

/** V8 reaches full speed after seconds of load. */
const maxWarmUpSeconds = 3;

/** Measures servers in turns: at saturation, then at half of that rate, where queueing hides no latency. */
export async function measureLoads<Server extends Contestant>(
  { redis, servers, generator }: Track<Server>,
  { title, load, aims }: Course<Server>,
  { rounds, seconds, postgres }: Options,
): Promise<Line[]> {
  const measure = async (server: Server, turnSeconds: number, rate?: number) => {
    const sent = { ...(await load(server, turnSeconds, rate !== undefined)), perSecond: rate };
    await redis.prepare(server.fsync);
    await takeStallMs(server);
    const result = await cpuPerRequest(server.pids, () => generator(sent));
    return { ...result, stallMs: await takeStallMs(server) };
  };
  const found = await interleave(servers, { rounds, title }, async (server, isWarmUp) => {
    const turnSeconds = isWarmUp ? Math.min(maxWarmUpSeconds, seconds) : seconds;
    const full = await measure(server, turnSeconds);
    return { full, half: await measure(server, turnSeconds, perSecond(full) / 2) };
  });
  const [full, half] = [pickEach(found, (turn) => turn.full), pickEach(found, (turn) => turn.half)];
  // All rounds have the longest of all: a median would hide it.
  const maxStallOf = (name: string) =>
    Math.max(...[...full, ...half].map((round) => round[name]?.stallMs ?? 0));
  const stallMs = Object.fromEntries(servers.map(({ name }) => [name, maxStallOf(name)]));
  const stalls = lineOf("  longest stall of a turn, ms", [stallMs], (ms) => ms);
  const resets = lineOf("  connections reset", found, (turn) => turn.full.resets + turn.half.resets);
  const { rate, p99 } = postgres ? {} : aims;
  return [
    lineOf(`${title}/s`, full, perSecond, rate),
    lineOf("  p50 ms", full, (turn) => turn.p50),
    lineOf("  p99 ms", full, (turn) => turn.p99),
    ...cpuLines("  ", full),
    lineOf("  at half load: p50 ms", half, (turn) => turn.p50),
    lineOf("  at half load: p99 ms", half, (turn) => turn.p99, p99),
    ...cpuLines("  at half load: ", half),
    ...(servers.some(({ metricsPort }) => metricsPort) ? [stalls] : []),
    ...(resets.rounds.some((round) => Object.values(round).some(Boolean)) ? [resets] : []),
  ];
}
