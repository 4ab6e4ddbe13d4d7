import { kilobyte, megabyte, pushPayload } from "../bodies.ts";
import { type Line, lineOf } from "../comparison.ts";
import { interleave } from "../rounds.ts";
import type { ContestantName, Server } from "./contestants.ts";
import type { Track } from "./track.ts";

const small = { body: pushPayload(kilobyte), connections: 50 };
const large = { body: pushPayload(megabyte), connections: 8 };
const saturationSeconds = 1;

/** Measures posts of 1 KB at half load: alone, and with half of it as posts of 1 MB. */
export async function measureNeighbor(
  { redis, servers, generators: [first, second] }: Track,
  { seconds, rounds }: { seconds: number; rounds: number },
): Promise<Line<ContestantName>[]> {
  const turn = async ({ url, fsync }: Server) => {
    await redis.prepare(fsync);
    const until = { seconds: saturationSeconds };
    const maxSmall = (await first.saturate({ url, ...small, until })).perSecond;
    const maxLarge = (await second.saturate({ url, ...large, until })).perSecond;

    await redis.prepare(fsync);
    const alone = await first.pace({ url, ...small, perSecond: maxSmall / 2, seconds });
    const [beside] = await Promise.all([
      first.pace({ url, ...small, perSecond: maxSmall / 4, seconds }),
      second.pace({ url, ...large, perSecond: maxLarge / 4, seconds }),
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
