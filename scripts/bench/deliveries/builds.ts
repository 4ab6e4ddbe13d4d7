import { RunFailed, withScratch } from "../../scratch/scratch.ts";
import type { Options } from "../bench.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
import { interleave, type Line, lineOf } from "../comparison.ts";
import { openCounter } from "../counter.ts";
import type { Load, LoadResult } from "../load/generator.ts";
import { startGenerator } from "../load/load.ts";
import { postJson } from "../load/request.ts";
import { cpuLines } from "../loads.ts";
import { cpuPerRequest } from "../machine/cpu.ts";
import { slowSyncs } from "../machine/slow-syncs.ts";
import { startRedis } from "../redis.ts";
import { percentile } from "../statistics.ts";
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
  const { seconds, rounds, postgres, syncMs } = options;
  return withScratch(async (scratch) => {
    if (syncMs) slowSyncs(scratch, syncMs);
    const redis = await startRedis(scratch);
    const builders = await startBuilders(scratch, redis, { workers: true, filter, postgres });
    const generator = startGenerator(scratch, options);
    const body = pushPayload(kilobyte);

    const results = await interleave(builders, { rounds, title }, async (builder) => {
      await redis.setFsync(builder.fsync);
      const requests = [postJson(builder.url, body)];
      const post = (load: Pick<Load, "perSecond" | "until">) =>
        build(builder, () => generator({ requests, connections: 50, wanted: { status: 201 }, ...load }));
      const full = await post({ until: { requests: deliveriesOf(options) } });
      return { full, half: await post({ perSecond: full.perSecond / 2, until: { seconds } }) };
    });
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
