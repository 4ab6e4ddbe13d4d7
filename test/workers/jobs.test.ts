import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { dayMs, hourMs, minuteMs } from "../../shared/durations.ts";
import * as contracts from "../../shared/jobs/contracts.ts";
import { putNewsOfBuilds } from "../../shared/news/put.ts";
import { redisKeys } from "../../shared/redis/keys.ts";
import { openWorkerJobs } from "../../workers/jobs.ts";
import { describeOnSqlite, sqlite } from "../helpers/databases.ts";
import { setUpClient, startDevice } from "../helpers/device.ts";
import { eventually } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";

describe("workers after an upgrade", () => {
  let world: World;
  let redis: Redis;
  let maintenance: Queue;

  before(async () => {
    world = await startWorld(sqlite);
    redis = new Redis(world.config.redisUrl, { maxRetriesPerRequest: null });
    const prefix = redisKeys(world.config.redisPrefix).jobs;
    maintenance = new Queue("maintenance", { connection: redis, prefix });
  });
  after(async () => {
    await world.close();
    await maintenance.close();
    redis.disconnect();
  });

  it("removes schedules that have been unknown for ten minutes, and keeps known ones", async () => {
    const template = { name: "sweep-retention", data: {} };
    await maintenance.upsertJobScheduler("sweep-retention", { every: 3_600_000 }, template);

    await world.startWorkers();
    await eventually("known schedules", async () => (await maintenance.getJobSchedulersCount()) > 1);
    const before = await maintenance.getJobSchedulers();
    world.clock.advance(10 * minuteMs);

    assert.ok(before.some(({ key }) => key === "sweep-retention"));
    const own = Object.values(contracts).filter(
      ({ queue, everyMs }) => queue === "maintenance" && everyMs !== undefined,
    );
    await eventually("the schedules of this version", async () => {
      const schedulers = await maintenance.getJobSchedulers();
      const names = schedulers.map(({ key }) => key).sort();
      return JSON.stringify(names) === JSON.stringify(own.map(({ name }) => name).sort());
    });
  });

  it("leaves a job of an unknown name to a worker that knows it", async () => {
    const job = await maintenance.add("sweep-tomorrow", {}, { attempts: 1 });

    await eventually("the job is put back", async () => (await job.getState()) === "delayed");

    const left = await maintenance.getJob(job.id ?? "");
    assert.deepEqual([left?.attemptsMade, left?.failedReason], [0, undefined]);
    await left?.remove();
  });

  it("fails a job that no worker has known for an hour, without a warning", async () => {
    const timestamp = Date.now() - hourMs - 1;
    const job = await maintenance.add("sweep-retention", {}, { attempts: 8, timestamp });

    await eventually("the job failed", async () => (await job.getState()) === "failed");

    const failed = await maintenance.getJob(job.id ?? "");
    assert.equal(failed?.attemptsMade, 1);
    assert.match(failed?.failedReason ?? "", /no worker knows the job sweep-retention/);
    assert.ok(!world.logged.some((line) => line.includes("sweep-retention")));
  });
});

describeOnSqlite("a worker of builds alone", (database) => {
  it("leaves news to those that send", async () => {
    const world = await startWorld(database);
    const { id: organizationId } = await setUpOrganization(world);
    const { db } = world.services;
    const { close } = openWorkerJobs(world.services, ["deliveries", "dispatch"]);

    const build = { id: randomUUID(), organizationId, notify: [] };
    await db.transaction((tx) => putNewsOfBuilds(tx, [build], "build.finished"));
    await close();

    const news = await db.select().from(db.tables.news);
    assert.deepEqual(
      news.map(({ buildId }) => buildId),
      [build.id],
    );
    await world.close();
  });
});

describeOnSqlite("a worker whose clock jumps ahead by days", (database) => {
  it("neither expires nor purges device codes", async () => {
    const world = await startWorld(database);
    await startDevice(world, await setUpClient(world));
    const { jobs, close } = openWorkerJobs(world.services);
    const expiry = jobs.find(({ contract }) => contract.name === contracts.expireDeviceCodesJob.name);
    world.clock.advance(2 * dayMs);

    await expiry?.run();

    const { db } = world.services;
    const codes = await db.select().from(db.tables.deviceCodes);
    assert.deepEqual(
      codes.map(({ state }) => state),
      ["pending"],
    );
    await close();
    await world.close();
  });
});
