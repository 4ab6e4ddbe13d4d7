import { cpuLines, perRequest } from "../both-loads.ts";
import { type Line, lineOf } from "../comparison.ts";
import { withCpuTimes } from "../machine/cpu.ts";
import { interleave } from "../rounds.ts";
import { type SizeName, sizes } from "./contestants.ts";
import type { Server, Track } from "./track.ts";

const perPage = 30;
const connectionsAtSaturation = 20;
/** V8 reaches full speed after some load. */
const warmUpSeconds = 1.5;
const aim = { small: "≤ 2" };

interface Lengths {
  seconds: number;
  rounds: number;
}

/** Measures the first and a middle page, one at a time, then both at saturation. */
export async function measureLists(track: Track, lengths: Lengths): Promise<Line<SizeName>[]> {
  const pageOf = ({ queuesUrl }: Server, page: number) =>
    ({ method: "GET", url: `${queuesUrl}?page=${page}&per_page=${perPage}` }) as const;
  const callsTo = (server: Server) => [
    pageOf(server, 1),
    pageOf(server, Math.ceil(sizes[server.name].queues / perPage / 2)),
  ];
  const alone = await measureCalls(track, lengths, {
    what: "Lists of queues",
    titles: ["list of queues, first page", "list of queues, middle page"],
    callsTo,
    aims: [aim, aim],
  });
  const together = await measureCalls(track, lengths, {
    what: "Lists of queues at saturation",
    titles: ["at saturation, first page", "at saturation, middle page"],
    callsTo,
    aims: [],
    connections: connectionsAtSaturation,
  });
  return [...alone, ...together];
}

/** Measures the queue where all jobs wait, without a worker. One queue cannot be saturated: it is paused or not. */
export function measureDispatch(track: Track, lengths: Lengths): Promise<Line<SizeName>[]> {
  return measureCalls(track, lengths, {
    what: "Pauses and resumptions",
    titles: ["pause_dispatch", "resume_dispatch"],
    callsTo: ({ queueUrl }) => [
      { method: "POST", url: `${queueUrl}/pause_dispatch` },
      { method: "POST", url: `${queueUrl}/resume_dispatch` },
    ],
    aims: [aim, {}],
  });
}

async function measureCalls(
  { redis, servers, generator }: Track,
  { seconds, rounds }: Lengths,
  {
    what,
    titles,
    callsTo,
    aims,
    connections = 1,
  }: {
    what: string;
    titles: string[];
    callsTo: (server: Server) => { method: "GET" | "POST"; url: string }[];
    aims: Line<SizeName>["aims"][];
    connections?: number;
  },
): Promise<Line<SizeName>[]> {
  const turn = (length: number) => async (server: Server) => {
    await redis.prepare("everysec");
    const { token, pids } = server;
    const order = { calls: callsTo(server), token, seconds: length, connections };
    const { result, cpu } = await withCpuTimes(pids, () => generator.callInTurn(order));
    const answers = result.reduce((sum, { accepted }) => sum + accepted, 0);
    return { results: result, perSecond: answers / length, cpu: perRequest(cpu, answers) };
  };
  const warmUp = turn(Math.min(warmUpSeconds, seconds));
  await interleave(servers, { rounds: 1, what: `${what}, warming up` }, warmUp);
  const found = await interleave(servers, { rounds, what: `${what}, round` }, turn(seconds));
  return [
    ...titles.flatMap((title, index) => [
      lineOf(`${title}: p50 ms`, found, ({ results }) => results[index]?.p50 ?? Number.NaN),
      lineOf("  p99 ms", found, ({ results }) => results[index]?.p99 ?? Number.NaN, aims[index]),
    ]),
    lineOf("  both: requests/s", found, ({ perSecond }) => perSecond),
    ...cpuLines("  both: ", found, ({ cpu }) => cpu),
  ];
}
