import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { dayMs } from "../../shared/durations.ts";
import { newIds } from "../../shared/ids.ts";
import { createBuildsJob, requeueStrandedDeliveriesJob } from "../../shared/jobs/contracts.ts";
import type { JobContract } from "../../shared/jobs/define.ts";
import { redisKeys } from "../../shared/redis/keys.ts";
import { sqlite } from "../helpers/databases.ts";
import { startWorld, type World } from "../helpers/world.ts";

describe("jobs that build deliveries", () => {
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

  const send = (deliveryIds: string[]) => world.services.jobs.send(createBuildsJob, { deliveryIds });
  const sentIds = async () => {
    const jobs = await queue.getWaiting();
    return jobs.map(({ data }) => data.deliveryIds as string[]);
  };

  it("are combined when they are sent in quick succession", async () => {
    const [first, ...others] = newIds(new Date(), 4) as [string, ...string[]];

    const alone = await send([first]);
    const together = await Promise.all(others.map((id) => send([id])));

    assert.deepEqual([alone, ...together], [true, true, true, true]);
    assert.deepEqual((await sentIds()).toSorted(), [[first], others].toSorted());
  });

  it("carry all ids, at most 500 each", async () => {
    const groups = [1, 2, 3].map(() => newIds(new Date(), 200));

    await Promise.all(groups.map(send));

    const sent = await sentIds();
    assert.deepEqual(sent.map((ids) => ids.length).toSorted(), [200, 400]);
    assert.deepEqual(sent.flat().toSorted(), groups.flat().toSorted());
  });

  it("are sent before the process ends", async () => {
    const { services } = await world.another();
    const ids = newIds(new Date(), 2);

    await services.jobs.send(createBuildsJob, { deliveryIds: [ids[0] as string] });
    const gathered = services.jobs.send(createBuildsJob, { deliveryIds: [ids[1] as string] });
    await services.jobs.close();

    assert.equal(await gathered, true);
    assert.deepEqual((await sentIds()).flat().toSorted(), ids);
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

  const schedule = () => world.services.jobs.schedule(["maintenance"], [contract as JobContract]);
  const contract = requeueStrandedDeliveriesJob;
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
