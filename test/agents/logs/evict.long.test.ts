import assert from "node:assert/strict";
import { afterEach, beforeEach, it } from "node:test";
import { count, eq } from "drizzle-orm";
import { evictLogs, purgeLogsOfBuilds } from "../../../shared/agents/logs/evict.ts";
import { findLog } from "../../../shared/agents/logs/store.ts";
import { rowBytes } from "../../../shared/agents/logs/write.ts";
import { purgeBuilds } from "../../../shared/builds/keeping/purge.ts";
import { dayMs, hourMs } from "../../../shared/durations.ts";
import { describeOnBothDatabases } from "../../helpers/databases.ts";
import { setUpOrganization, type TestOrganization } from "../../helpers/organization.ts";
import { startWorld, type World } from "../../helpers/world.ts";
import { type LoggedJob, leaseJob, newJob } from "./jobs-with-logs.ts";

const maxBytes = 2000;

describeOnBothDatabases("evicted logs", (database) => {
  let world: World;
  let acme: TestOrganization;

  beforeEach(async () => {
    world = await startWorld(database, {
      LOG_BYTES_PER_ORGANIZATION: String(maxBytes),
      LOG_RETENTION_DAYS: "30",
      BUILD_RETENTION_DAYS: "60",
    });
    acme = await setUpOrganization(world);
  });
  afterEach(() => world.close());

  const leased = async () => leaseJob(world.services, await newJob(world.services, acme));
  /** Stores this many chunks of about 150 bytes. */
  const ended = async (chunks = 1) => {
    const job = await leased();
    for (let sequence = 1; sequence <= chunks; sequence++) await job.send(sequence, sequence - 1, "x");
    await job.finish();
    return job;
  };
  const totals = () => world.services.db.select().from(world.services.db.tables.logTotals);
  const totalBytes = async () => (await totals()).reduce((sum, { bytes }) => sum + bytes, 0);
  const storedBytes = async () => {
    const { db } = world.services;
    const logs = await db.select().from(db.tables.jobLogs);
    return logs.reduce((sum, log) => sum + (log.isCounted ? log.storedBytes : 0), 0);
  };
  const countChunks = async ({ lease }: LoggedJob) => {
    const { db } = world.services;
    const { jobLogChunks } = db.tables;
    const [row] = await db
      .select({ total: count() })
      .from(jobLogChunks)
      .where(eq(jobLogChunks.jobId, lease.jobId));
    return row?.total;
  };
  const isEvicted = async ({ lease }: LoggedJob) =>
    (await findLog(world.services.db, lease))?.evictedAt != null;

  it("are counted once, when the attempt ends", async () => {
    const running = await leased();
    await running.log("counted later");
    assert.deepEqual(await totals(), []);

    await running.finish();
    await running.finish("failed");

    assert.equal(await totalBytes(), await storedBytes());
    assert.ok((await totalBytes()) > rowBytes);
  });

  it("are past their retention, and none while the clock is in doubt", async () => {
    const old = await ended();
    world.clock.advance(29 * dayMs);
    const young = await ended();
    const { db } = world.services;
    await db.transaction(async (tx) => {
      const { jobLogs, logTotals } = tx.tables;
      const createdAt = new Date(tx.now.getTime() - 31 * dayMs);
      const hour = new Date(Math.floor(createdAt.getTime() / hourMs) * hourMs);
      const [row] = await tx
        .update(jobLogs)
        .set({ createdAt })
        .where(eq(jobLogs.jobId, old.lease.jobId))
        .returning();
      await tx.delete(logTotals);
      const rest = await tx.select().from(jobLogs).where(eq(jobLogs.jobId, young.lease.jobId));
      const organizationId = acme.id;
      await tx.insert(logTotals).values([
        { organizationId, hour, bytes: row?.storedBytes ?? 0 },
        {
          organizationId,
          hour: new Date(Math.floor((rest[0]?.createdAt.getTime() ?? 0) / hourMs) * hourMs),
          bytes: rest[0]?.storedBytes ?? 0,
        },
      ]);
      world.clock.advance(tx.now.getTime() - world.services.clock.now().getTime());
    });

    assert.equal(await evictLogs(world.services, { isClockTrusted: false }), 0);
    assert.equal(await evictLogs(world.services), 1);

    assert.deepEqual([await isEvicted(old), await isEvicted(young)], [true, false]);
    assert.equal(await countChunks(old), 0);
    assert.equal(await totalBytes(), await storedBytes());
    assert.equal(await evictLogs(world.services), 0);
  });

  it("are the oldest of an organization over its limit, without those of running jobs", async () => {
    const running = await leased();
    await running.log("x");
    const jobs = [await ended(6), await ended(6), await ended(6), await ended(6)];

    await evictLogs(world.services);

    assert.deepEqual(await Promise.all(jobs.map(isEvicted)), [true, true, false, false]);
    assert.equal(await isEvicted(running), false);
    assert.ok((await totalBytes()) <= maxBytes);
    assert.equal(await totalBytes(), await storedBytes());
  });

  it("go in small steps, which a later run continues", async () => {
    const large = await ended(450);
    assert.equal(await evictLogs(world.services, { maxBatches: 1 }), 0);
    assert.equal(await countChunks(large), 250);
    assert.equal(await isEvicted(large), true);
    assert.equal(await totalBytes(), await storedBytes());

    assert.equal(await evictLogs(world.services), 1);

    assert.equal(await countChunks(large), 0);
    assert.deepEqual(await totals(), []);
  });

  it("are evicted once by two workers", async () => {
    for (let index = 0; index < 4; index++) await ended(6);
    await Promise.all([evictLogs(world.services), evictLogs(world.services)]);

    assert.ok((await totalBytes()) <= maxBytes);
    assert.ok((await totalBytes()) > maxBytes / 2);
    assert.equal(await totalBytes(), await storedBytes());
  });

  it("of a purged build go before it, and out of the totals", async () => {
    const job = await ended(5);
    const { db } = world.services;
    const { builds } = db.tables;
    await db.transaction(async (tx) => {
      await tx.update(builds).set({ state: "passed", finishedAt: tx.now });
    });
    world.clock.advance(61 * dayMs);
    const chunksBefore: (number | undefined)[] = [];

    const purged = await purgeBuilds(world.services, async (ids) => {
      await purgeLogsOfBuilds(world.services, ids);
      chunksBefore.push(await countChunks(job));
    });

    assert.equal(purged, 1);
    assert.deepEqual(chunksBefore, [0]);
    assert.equal(await totalBytes(), 0);
  });
});
