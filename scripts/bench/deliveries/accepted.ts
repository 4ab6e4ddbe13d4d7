import { kilobyte, megabyte, pushPayload } from "../bodies.ts";
import { linesOfBothLoads, measureBothLoads } from "../both-loads.ts";
import type { Line } from "../comparison.ts";
import { interleave } from "../rounds.ts";
import type { ContestantName, Server } from "./contestants.ts";
import type { Track } from "./track.ts";

const p99 = { everysec: "≤ 1" };
const aims = {
  "1KB": { rate: { bare: "≥ 0.4", everysec: "≥ 1.2" }, p99 },
  "20KB": { rate: { bare: "≥ 0.2", everysec: "≥ 1.3" }, p99 },
  "1MB": {},
};

const sizes = {
  "1KB": { title: "1 KB", bytes: kilobyte, connections: 50, minSeconds: 0 },
  "20KB": { title: "20 KB", bytes: 20 * kilobyte, connections: 50, minSeconds: 0 },
  // On a busy machine the hand-made server takes a second for its first answer.
  "1MB": { title: "1 MB", bytes: megabyte, connections: 8, minSeconds: 2 },
} as const;
export type SizeName = keyof typeof sizes;

const warmUpSeconds = 0.5;

export async function measureAccepted(
  { redis, servers, generators: [generator] }: Track,
  name: SizeName,
  options: { seconds: number; rounds: number; postgres?: string },
): Promise<Line<ContestantName>[]> {
  const { title, bytes, connections, minSeconds } = sizes[name];
  const body = pushPayload(bytes);
  const turn =
    (turnSeconds: number) =>
    ({ url, fsync, pids }: Server) => {
      const seconds = Math.max(turnSeconds, minSeconds);
      return measureBothLoads(pids, {
        prepare: () => redis.prepare(fsync),
        saturate: () => generator.saturate({ url, body, connections, until: { seconds } }),
        pace: (perSecond) => generator.pace({ url, body, connections, perSecond, seconds }),
      });
    };

  await interleave(servers, { rounds: 1, what: `${title}, warming up` }, turn(warmUpSeconds));
  const { rounds, seconds } = options;
  const results = await interleave(servers, { rounds, what: `${title}, round` }, turn(seconds));
  return linesOfBothLoads(`${title}: accepted`, results, options.postgres ? {} : aims[name]);
}
