import { setTimeout as sleep } from "node:timers/promises";
import { kilobyte, pushPayload } from "../bodies.ts";
import type { Generator } from "../load/load.ts";
import { BenchmarkFailed } from "../scratch.ts";
import type { Peer } from "./peer.ts";
import type { RunningPeer } from "./running.ts";

export interface Speed {
  acceptedPerSecond: number;
  p99: number;
  runsPerSecond: number;
  /** The highest memory of all processes together while they make runs. */
  megabytes: number;
  /** Posts that were answered 2xx and have no run, though nothing was killed. */
  lost: number;
}

const connections = 50;
const lookEveryMs = 20;
const quietMs = 20_000;
const patienceMs = 120_000;

/** A push event with a number. */
export function numberedPayload(number: number): string {
  const fields = `{"number":${number},`;
  return fields + pushPayload(kilobyte - fields.length + 1).slice(1);
}

/** Starts the processes. Measures the server alone, then runs from the first post until the last run. */
export async function measureSpeed(
  running: RunningPeer,
  generator: Generator,
  { seconds, deliveries }: { seconds: number; deliveries: number },
): Promise<Speed> {
  const { peer } = running;
  const load = { url: peer.url, body: numberedPayload(0), connections };
  await running.start("server");
  await generator.saturate({ ...load, until: { requests: deliveries } });
  const alone = await generator.saturate({ ...load, until: { seconds } });

  await running.start("worker");
  const posted = deliveries + alone.accepted;
  await untilRuns(peer, posted);
  await untilNothingIsLeft(peer);

  const before = await peer.countRuns();
  const startedAt = performance.now();
  const { result: after, megabytes } = await running.withHighestMemory(async () => {
    await generator.saturate({ ...load, until: { requests: deliveries } });
    return untilRuns(peer, before + deliveries);
  });
  return {
    acceptedPerSecond: alone.perSecond,
    p99: alone.p99,
    runsPerSecond: (after.count - before) / ((after.at - startedAt) / 1000),
    megabytes,
    lost: Math.max(0, posted - before) + Math.max(0, before + deliveries - after.count),
  };
}

/** Resolves once as many runs exist, or none came for long. Returns their number, and the time of the last. */
async function untilRuns(peer: Peer, wanted: number): Promise<{ count: number; at: number }> {
  let last = { count: await peer.countRuns(), at: performance.now() };
  while (last.count < wanted && performance.now() - last.at < quietMs) {
    await sleep(lookEveryMs);
    const count = await peer.countRuns();
    if (count > last.count) last = { count, at: performance.now() };
  }
  return last;
}

/** Posts that the load generator cut off at its end may have been stored too. */
async function untilNothingIsLeft(peer: Peer): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while ((await peer.listUnfinished()).length > 0) {
    if (performance.now() > deadline) throw new BenchmarkFailed("Jobs are unfinished after two minutes.");
    await sleep(lookEveryMs);
  }
}
