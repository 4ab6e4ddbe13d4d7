import { type Line, lineOf } from "../comparison.ts";
import { interleave } from "../rounds.ts";
import { type SizeName, sizes } from "./contestants.ts";
import type { Server, Track } from "./track.ts";

const perPage = 30;
/** V8 reaches full speed after some load. */
const warmUpSeconds = 1.5;
const aim = { small: "≤ 2" };

interface Lengths {
  seconds: number;
  rounds: number;
}

/** Measures the first and a middle page. */
export function measureLists(track: Track, lengths: Lengths): Promise<Line<SizeName>[]> {
  const pageOf = ({ queuesUrl }: Server, page: number) =>
    ({ method: "GET", url: `${queuesUrl}?page=${page}&per_page=${perPage}` }) as const;
  return measureCalls(track, lengths, {
    what: "Lists of queues",
    titles: ["list of queues, first page", "list of queues, middle page"],
    callsTo: (server) => [
      pageOf(server, 1),
      pageOf(server, Math.ceil(sizes[server.name].queues / perPage / 2)),
    ],
    aims: [aim, aim],
  });
}

/** Measures the queue where all jobs wait, without a worker. */
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
  }: {
    what: string;
    titles: string[];
    callsTo: (server: Server) => { method: "GET" | "POST"; url: string }[];
    aims: Line<SizeName>["aims"][];
  },
): Promise<Line<SizeName>[]> {
  const turn = (length: number) => async (server: Server) => {
    await redis.prepare("everysec");
    return generator.callInTurn({ calls: callsTo(server), token: server.token, seconds: length });
  };
  await interleave(servers, { rounds: 1, what: `${what}, warming up` }, turn(warmUpSeconds));
  const results = await interleave(servers, { rounds, what: `${what}, round` }, turn(seconds));
  return titles.flatMap((title, index) => [
    lineOf(`${title}: p50 ms`, results, (each) => each[index]?.p50 ?? Number.NaN),
    lineOf("  p99 ms", results, (each) => each[index]?.p99 ?? Number.NaN, aims[index]),
  ]);
}
