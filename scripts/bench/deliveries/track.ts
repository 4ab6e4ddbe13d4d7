import { kilobyte, pushPayload } from "../bodies.ts";
import { type Generator, startGenerator } from "../load/load.ts";
import { step } from "../progress.ts";
import { ScratchRedis } from "../redis.ts";
import { interleave } from "../rounds.ts";
import { type Scratch, withScratch } from "../scratch.ts";
import type { Server } from "./contestants.ts";
import { startServers } from "./servers.ts";

/** Warm servers, without workers. */
export interface Track {
  redis: ScratchRedis;
  servers: Server[];
  /** For two loads at once. */
  generators: [Generator, Generator];
}

const connections = 50;
/** V8 reaches full speed after seconds of load. */
const warmUpSeconds = 3;

export function withTrack<T>(
  options: { seconds: number; postgres?: string },
  work: (track: Track) => Promise<T>,
): Promise<T> {
  return withScratch(async (scratch) => work(await openTrack(scratch, options)));
}

async function openTrack(
  scratch: Scratch,
  { seconds, postgres }: { seconds: number; postgres?: string },
): Promise<Track> {
  step("Starting the servers");
  const redis = await ScratchRedis.start(scratch);
  const servers = await startServers(scratch, redis, { workers: false, postgres });
  const generators: Track["generators"] = [
    startGenerator(scratch, "load-1"),
    startGenerator(scratch, "load-2"),
  ];

  const body = pushPayload(kilobyte);
  await interleave(servers, { rounds: 1, what: "Warming up" }, async ({ url, fsync }) => {
    await redis.prepare(fsync);
    const until = { seconds: Math.min(warmUpSeconds, seconds * 2) };
    await generators[0].saturate({ url, body, connections, until });
  });
  return { redis, servers, generators };
}
