import { setTimeout as sleep } from "node:timers/promises";
import { kilobyte, pushPayload } from "../bodies.ts";
import { cpuLines, perRequest } from "../both-loads.ts";
import { type Line, lineOf } from "../comparison.ts";
import { type LoadResult, startGenerator } from "../load/load.ts";
import { withCpuTimes } from "../machine/cpu.ts";
import { step } from "../progress.ts";
import { ScratchRedis } from "../redis.ts";
import { interleave } from "../rounds.ts";
import { BenchmarkFailed, withScratch } from "../scratch.ts";
import { percentile } from "../statistics.ts";
import type { Builder, ContestantName } from "./contestants.ts";
import { type Counter, openCounter } from "./counter.ts";
import { startBuilders } from "./servers.ts";

const posts = { body: pushPayload(kilobyte), connections: 50 };
const lookEveryMs = 5;
const patienceMs = 30_000;

interface Lengths {
  deliveries: number;
  seconds: number;
  rounds: number;
  postgres?: string;
}

export function measureBuilds(lengths: Lengths): Promise<Line<ContestantName>[]> {
  const aims = lengths.postgres ? {} : { everysec: "≥ 3" };
  return measureUntilBuilt({ title: "1 KB: builds/s, end to end", aims }, lengths);
}

/** All deliveries meet the filter, so that each is built. */
export function measureFilteredBuilds(lengths: Lengths): Promise<Line<ContestantName>[]> {
  const filter = `webhook.payload.ref == "refs/heads/main" && !webhook.payload.repository.private`;
  return measureUntilBuilt({ title: "1 KB with a filter: builds/s, end to end", aims: {}, filter }, lengths);
}

interface Course {
  title: string;
  aims: Line<ContestantName>["aims"];
  filter?: string;
}

/** Measures from the first post until the last build. */
function measureUntilBuilt(
  { title, aims, filter }: Course,
  { deliveries, seconds, rounds, postgres }: Lengths,
): Promise<Line<ContestantName>[]> {
  return withScratch(async (scratch) => {
    step("Starting the servers and workers");
    const redis = await ScratchRedis.start(scratch);
    const builders = await startBuilders(scratch, redis, { workers: true, filter, postgres });
    const generator = startGenerator(scratch);

    const turn = async (builder: Builder) => {
      const { url, fsync } = builder;
      await redis.setFsync(fsync);
      const full = await build(builder, () =>
        generator.saturate({ url, ...posts, until: { requests: deliveries } }),
      );
      const half = await build(builder, () => paceAt(full.perSecond / 2));
      return { full, half };

      function paceAt(perSecond: number): Promise<LoadResult> {
        return generator.pace({ url, ...posts, perSecond, seconds });
      }
    };
    await interleave(builders, { rounds: 1, what: "Builds, warming up" }, turn);
    const results = await interleave(builders, { rounds, what: "Builds, round" }, turn);
    return [
      lineOf(title, results, ({ full }) => full.perSecond, aims),
      ...cpuLines("  ", results, ({ full }) => full.cpu),
      lineOf("  at half load: p50 ms until built", results, ({ half }) => half.p50),
      lineOf("  at half load: p99 ms until built", results, ({ half }) => half.p99),
      ...cpuLines("  at half load: ", results, ({ half }) => half.cpu),
    ];
  });
}

/** Posts, and waits for the builds. */
async function build({ pids, builds }: Builder, load: () => Promise<LoadResult>) {
  await using counter = await openCounter(builds);
  const before = await counter.last();
  const startedAt = performance.now();
  const { result, cpu } = await withCpuTimes(pids, async () => {
    const { accepted } = await load();
    return { accepted, builtAt: await untilLast(counter, before + accepted) };
  });
  const { accepted, builtAt } = result;
  if ((await counter.count()) !== before + accepted)
    throw new BenchmarkFailed("There are not as many builds as numbers.");

  const delays = (await counter.delays(before)).sort((a, b) => a - b);
  return {
    perSecond: accepted / ((builtAt - startedAt) / 1000),
    p50: percentile(delays, 0.5),
    p99: percentile(delays, 0.99),
    cpu: perRequest(cpu, accepted),
  };
}

/** @returns the time when this build existed */
async function untilLast(counter: Counter, wanted: number): Promise<number> {
  const deadline = performance.now() + patienceMs;
  for (let last = await counter.last(); last < wanted; last = await counter.last()) {
    if (performance.now() > deadline)
      throw new BenchmarkFailed(`${wanted - last} deliveries have no build after half a minute.`);
    await sleep(lookEveryMs);
  }
  return performance.now();
}
