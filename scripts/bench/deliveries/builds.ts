import { RunFailed, withScratch } from "../../scratch/scratch.ts";
import type { Options } from "../bench.ts";
import { kilobyte } from "../bodies.ts";
import { interleave, type Line, lineOf } from "../comparison.ts";
import { openCounter } from "../counter.ts";
import type { LoadResult } from "../load/generator.ts";
import { startGenerator } from "../load/load.ts";
import { cpuLines } from "../loads.ts";
import { cpuPerRequest } from "../machine/cpu.ts";
import { ScratchRedis } from "../redis.ts";
import { percentile } from "../statistics.ts";
import { posts } from "./accepted.ts";
import { type Builder, type ContestantName, startBuilders } from "./servers.ts";

const courses = {
  builds: { title: "1 KB: builds/s, end to end", filter: undefined },
  /** All deliveries meet it, so that each is built. */
  filtered: {
    title: "1 KB with a filter: builds/s, end to end",
    filter: `webhook.payload.ref == "refs/heads/main" && !webhook.payload.repository.private`,
  },
};

/** Posts of a turn. */
export const deliveriesOf = ({ quick }: Options) => (quick ? 200 : 5000);

/** Measures from the first post until the last build. */
export function measureBuilds(
  course: keyof typeof courses,
  options: Options,
): Promise<Line<ContestantName>[]> {
  const { title, filter } = courses[course];
  const { seconds, rounds, postgres } = options;
  return withScratch(async (scratch) => {
    const redis = await ScratchRedis.start(scratch);
    const builders = await startBuilders(scratch, redis, { workers: true, filter, postgres });
    const post = posts(startGenerator(scratch, options), { bytes: kilobyte, connections: 50 });

    const turn = async (builder: Builder) => {
      const { url, fsync } = builder;
      await redis.setFsync(fsync);
      const requests = deliveriesOf(options);
      const full = await build(builder, () => post(url, 201, { until: { requests } }));
      const paced = { perSecond: full.perSecond / 2, until: { seconds } };
      return { full, half: await build(builder, () => post(url, 201, paced)) };
    };
    await interleave(builders, { rounds: 1, what: `${course}, warming up` }, turn);
    const results = await interleave(builders, { rounds, what: `${course}, round` }, turn);
    const half = "  at half load: ";
    const aims = postgres || filter ? {} : { everysec: "≥ 3" };
    return [
      lineOf(title, results, ({ full }) => full.perSecond, aims),
      ...cpuLines("  ", results, ({ full }) => full.cpu),
      lineOf(`${half}p50 ms until built`, results, ({ half }) => half.p50),
      lineOf(`${half}p99 ms until built`, results, ({ half }) => half.p99),
      ...cpuLines(half, results, ({ half }) => half.cpu),
    ];
  });
}

/** Posts, and waits for the builds. */
async function build({ pids, databaseUrl, pipelineId }: Builder, load: () => Promise<LoadResult>) {
  await using counter = await openCounter(databaseUrl, pipelineId);
  const before = await counter.last();
  const startedAt = performance.now();
  const { accepted, endedAt, cpu } = await cpuPerRequest(pids, async () => {
    const { accepted } = await load();
    await counter.untilLast(before + accepted);
    return { accepted, endedAt: performance.now() };
  });
  if ((await counter.count()) !== before + accepted)
    throw new RunFailed("There are not as many builds as numbers.");

  const delays = await counter.delays(before);
  return {
    perSecond: accepted / ((endedAt - startedAt) / 1000),
    p50: percentile(delays, 0.5),
    p99: percentile(delays, 0.99),
    cpu,
  };
}
