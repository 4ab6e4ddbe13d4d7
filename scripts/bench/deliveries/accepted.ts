import { kilobyte, megabyte, pushPayload } from "../bodies.ts";
import { type Line, lineOf } from "../comparison.ts";
import { interleave } from "../rounds.ts";
import type { ContestantName, Server } from "./contestants.ts";
import type { Track } from "./track.ts";

const aimsAt1KB = { bare: "≥ 0.35", everysec: "≥ 0.9", always: "> 1" };

const sizes = {
  "1KB": { title: "1 KB", bytes: kilobyte, connections: 50, aims: aimsAt1KB },
  "20KB": { title: "20 KB", bytes: 20 * kilobyte, connections: 50, aims: {} },
  "1MB": { title: "1 MB", bytes: megabyte, connections: 8, aims: {} },
} as const;
export type SizeName = keyof typeof sizes;

const warmUpSeconds = 0.5;

/** Measures accepted posts a second and their latency, by size. */
export async function measureAccepted(
  { redis, servers, generators: [generator] }: Track,
  name: SizeName,
  options: { seconds: number; rounds: number },
): Promise<Line<ContestantName>[]> {
  const { title, bytes, connections, aims } = sizes[name];
  const body = pushPayload(bytes);
  const turn =
    (seconds: number) =>
    async ({ url, fsync }: Server) => {
      await redis.prepare(fsync);
      return generator.saturate({ url, body, connections, until: { seconds } });
    };

  await interleave(servers, { rounds: 1, what: `${title}, warming up` }, turn(warmUpSeconds));
  const { rounds, seconds } = options;
  const results = await interleave(servers, { rounds, what: `${title}, round` }, turn(seconds));
  return [
    lineOf(`${title}: accepted/s`, results, (result) => result.perSecond, aims),
    lineOf(`${title}: p50 ms`, results, (result) => result.p50),
    lineOf(`${title}: p99 ms`, results, (result) => result.p99),
  ];
}
