import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { dayMs } from "../../shared/durations.ts";
import { createBuildsJob, recordUsageJob } from "../../shared/jobs/contracts.ts";
import { redisKeys } from "../../shared/redis/keys.ts";
import { sqlite } from "../helpers/databases.ts";
import { startWorld, type World } from "../helpers/world.ts";

describe("jobs that wake workers", () => {
  let world: World;
  let redis: Redis;
  let queue: Queue;

  before(async () => {
    world = await startWorld(sqlite);
    redis = new Redis(world.config.redisUrl, { maxRetriesPerRequest: null });
    queue = new Queue("deliveries", {
      connection: redis,
      prefix: redisKeys(world.config.redisPrefix).jobs,
    });
  });
  afterEach(() => queue.drain());
  after(async () => {
    await world.close();
    await queue.close();
    redis.disconnect();
  });

  const send = () => world.services.jobs.send(createBuildsJob);
  const countSent = async () => (await queue.getWaiting()).length;

  it("are combined when they are sent in quick succession", async () => {
    const alone = await send();
    const together = await Promise.all([send(), send(), send()]);

    assert.deepEqual([alone, ...together], [true, true, true, true]);
    assert.equal(await countSent(), 2);
  });

  it("are sent before the process ends", async () => {
    const { services } = await world.another();

    await services.jobs.send(createBuildsJob);
    const gathered = services.jobs.send(createBuildsJob);
    await services.jobs.close();

    assert.equal(await gathered, true);
    assert.equal(await countSent(), 2);
  });
});

describe("the schedule of a repeated job", () => {
  let world: World;
  let redis: Redis;
  let queue: Queue;

  before(async () => {
    world = await startWorld(sqlite);
    redis = new Redis(world.config.redisUrl, { maxRetriesPerRequest: null });
    queue = new Queue("maintenance", {
      connection: redis,
      prefix: redisKeys(world.config.redisPrefix).jobs,
    });
  });
  after(async () => {
    await world.close();
    await queue.close();
    redis.disconnect();
  });

  const schedule = () => world.services.jobs.schedule(["maintenance"], [contract]);
  const contract = recordUsageJob;
  const nextRun = async () => (await queue.getJobScheduler(contract.name))?.next ?? Number.NaN;

  it("is made again when a clock that was ahead has put its next run far off", async (test) => {
    test.mock.timers.enable({ apis: ["Date"], now: Date.now() + 8 * dayMs });
    await schedule();
    const ahead = await nextRun();
    test.mock.timers.reset();

    await schedule();

    assert.ok(ahead > Date.now() + 7 * dayMs);
    assert.ok((await nextRun()) <= Date.now() + 2 * (contract.everyMs ?? 0));
  });

  it("keeps its next run otherwise", async () => {
    await schedule();
    const before = await nextRun();
    await schedule();
    assert.equal(await nextRun(), before);
  });
});
