import type { Scratch } from "../../scratch/scratch.ts";
import type { Options } from "../bench.ts";
import { kilobyte, megabyte, pushPayload } from "../bodies.ts";
import { interleave, type Line, lineOf } from "../comparison.ts";
import { type Generator, startGenerator } from "../load/load.ts";
import { postJson } from "../load/request.ts";
import { linesOfBothLoads, measureBothLoads } from "../loads.ts";
import { ScratchRedis } from "../redis.ts";
import { type ContestantName, type Server, startBare, startBuilders } from "./servers.ts";

/** Servers without workers. */
export interface Track {
  redis: ScratchRedis;
  servers: Server[];
  /** For two loads at once. */
  generators: [Generator, Generator];
}

const p99 = { everysec: "≤ 1" };
const sizes = {
  "1KB": {
    title: "1 KB",
    bytes: kilobyte,
    connections: 50,
    minSeconds: 0,
    aims: { rate: { bare: "≥ 0.4", everysec: "≥ 1.2" }, p99 },
  },
  "20KB": {
    title: "20 KB",
    bytes: 20 * kilobyte,
    connections: 50,
    minSeconds: 0,
    aims: { rate: { bare: "≥ 0.2", everysec: "≥ 1.3" }, p99 },
  },
  // On a busy machine the hand-made server takes a second for its first answer.
  "1MB": { title: "1 MB", bytes: megabyte, connections: 8, minSeconds: 2, aims: {} },
};
export type SizeName = keyof typeof sizes;

/** V8 reaches full speed after seconds of load. */
const warmUpSeconds = 3;
const saturationSeconds = 1;

export async function openTrack(scratch: Scratch, options: Options): Promise<Track> {
  const redis = await ScratchRedis.start(scratch);
  const bare = await startBare(scratch);
  const servers = [
    bare,
    ...(await startBuilders(scratch, redis, { workers: false, postgres: options.postgres })),
  ];
  return {
    redis,
    servers,
    generators: [startGenerator(scratch, options, "load-1"), startGenerator(scratch, options, "load-2")],
  };
}

/** Sends posts of one size on so many connections. */
export function posts(generator: Generator, { bytes, connections }: { bytes: number; connections: number }) {
  const body = pushPayload(bytes);
  return (
    url: string,
    status: number,
    load: { perSecond?: number | undefined; until: { seconds: number } | { requests: number } },
  ) => generator({ requests: [postJson(url, body)], connections, wanted: { status }, ...load });
}

export async function measureAccepted(
  { redis, servers, generators: [generator] }: Track,
  name: SizeName,
  { rounds, seconds, postgres }: Options,
): Promise<Line<ContestantName>[]> {
  const { title, minSeconds, aims, ...size } = sizes[name];
  const post = posts(generator, size);
  const turn = (turnSeconds: number) => (server: Server) => {
    const until = { seconds: Math.max(turnSeconds, minSeconds) };
    return measureBothLoads(server.pids, {
      prepare: () => redis.prepare(server.fsync),
      send: (perSecond) => post(server.url, statusOf(server), { perSecond, until }),
    });
  };
  const warmUp = turn(Math.min(warmUpSeconds, seconds));
  await interleave(servers, { rounds: 1, what: `${title}, warming up` }, warmUp);
  const results = await interleave(servers, { rounds, what: `${title}, round` }, turn(seconds));
  return linesOfBothLoads(`${title}: accepted`, results, postgres ? {} : aims);
}

/** Measures posts of 1 KB at half load: alone, and with half of it as posts of 1 MB. */
export async function measureNeighbor(
  { redis, servers, generators: [first, second] }: Track,
  { seconds, rounds }: Options,
): Promise<Line<ContestantName>[]> {
  const [small, large] = [posts(first, sizes["1KB"]), posts(second, sizes["1MB"])];
  const turn = async (server: Server) => {
    const [url, status] = [server.url, statusOf(server)];
    await redis.prepare(server.fsync);
    const atMost = { until: { seconds: saturationSeconds } };
    const maxSmall = (await small(url, status, atMost)).perSecond;
    const maxLarge = (await large(url, status, atMost)).perSecond;

    await redis.prepare(server.fsync);
    const until = { seconds };
    const alone = await small(url, status, { perSecond: maxSmall / 2, until });
    const [beside] = await Promise.all([
      small(url, status, { perSecond: maxSmall / 4, until }),
      large(url, status, { perSecond: maxLarge / 4, until }),
    ]);
    return { alone: alone.p99, beside: beside.p99 };
  };

  const compared = servers.filter(({ name }) => name === "everysec" || name === "signalbox");
  const results = await interleave(compared, { rounds, what: "1 KB beside 1 MB, round" }, turn);
  return [
    lineOf("1 KB at half load: p99 ms alone", results, ({ alone }) => alone),
    lineOf("  p99 ms beside 1 MB posts", results, ({ beside }) => beside),
    lineOf("  beside ÷ alone", results, ({ alone, beside }) => beside / alone, { signalbox: "≤ 3" }),
  ];
}

function statusOf({ name }: Server): number {
  return name === "bare" ? 200 : 201;
}
