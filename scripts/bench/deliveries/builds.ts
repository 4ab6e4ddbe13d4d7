import { setTimeout as sleep } from "node:timers/promises";
import Client from "better-sqlite3";
import { kilobyte, pushPayload } from "../bodies.ts";
import { type Line, lineOf } from "../comparison.ts";
import { startGenerator } from "../load/load.ts";
import { step } from "../progress.ts";
import { ScratchRedis } from "../redis.ts";
import { interleave } from "../rounds.ts";
import { BenchmarkFailed, withScratch } from "../scratch.ts";
import { type Builder, type ContestantName, startBuilders } from "./contestants.ts";

const posts = { body: pushPayload(kilobyte), connections: 50 };
const aims = { everysec: "≥ 2.5" };
const lookEveryMs = 5;
const patienceMs = 30_000;

/** Measures from the first post until the last build, with server and worker running together. */
export function measureBuilds({
  deliveries,
  rounds,
}: {
  deliveries: number;
  rounds: number;
}): Promise<Line<ContestantName>[]> {
  return withScratch(async (scratch) => {
    step("Starting the servers and workers");
    const redis = await ScratchRedis.start(scratch);
    const builders = await startBuilders(scratch, redis);
    const generator = startGenerator(scratch);

    const turn = async ({ url, fsync, builds }: Builder) => {
      await redis.setFsync(fsync);
      using counter = openCounter(builds);
      const wanted = counter.last() + deliveries;
      const startedAt = performance.now();
      const [builtAt] = await Promise.all([
        untilLast(counter, wanted),
        generator.saturate({ url, ...posts, until: { requests: deliveries } }),
      ]);
      if (counter.count() !== wanted) throw new BenchmarkFailed("There are not as many builds as numbers.");
      return deliveries / ((builtAt - startedAt) / 1000);
    };
    await interleave(builders, { rounds: 1, what: "Builds, warming up" }, turn);
    const results = await interleave(builders, { rounds, what: "Builds, round" }, turn);
    return [lineOf("1 KB: builds/s, end to end", results, (perSecond) => perSecond, aims)];
  });
}

interface Counter extends Disposable {
  /** Number of the pipeline's last build. */
  last(): number;
  /** Number of build rows. */
  count(): number;
}

function openCounter({ databaseFile, pipelineId }: Builder["builds"]): Counter {
  const client = new Client(databaseFile, { readonly: true });
  const last = client.prepare("select last_build_number from pipelines where id = ?").pluck();
  const count = client.prepare("select count(*) from builds").pluck();
  return {
    last: () => Number(last.get(pipelineId)),
    count: () => Number(count.get()),
    [Symbol.dispose]: () => client.close(),
  };
}

/** @returns the time at which the build of this number existed */
async function untilLast(counter: Counter, wanted: number): Promise<number> {
  const deadline = performance.now() + patienceMs;
  while (counter.last() < wanted) {
    if (performance.now() > deadline)
      throw new BenchmarkFailed(`${wanted - counter.last()} deliveries have no build after half a minute.`);
    await sleep(lookEveryMs);
  }
  return performance.now();
}
