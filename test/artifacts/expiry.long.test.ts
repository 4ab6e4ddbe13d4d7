import assert from "node:assert/strict";
import { afterEach, beforeEach, it } from "node:test";
import { findOrganizationById } from "../../shared/accounts/organization-store.ts";
import { evictArtifacts } from "../../shared/artifacts/evict.ts";
import { dayMs, hourMs, hourOf } from "../../shared/durations.ts";
import { countStoredBytes } from "../../shared/retention/organizations.ts";
import { addToTotals } from "../../shared/retention/totals-store.ts";
import { newJob } from "../agents/logs/jobs-with-logs.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";
import { leaveArtifact } from "./left-by-job.ts";

describeOnBothDatabases("artifacts that expire", (database) => {
  let world: World;
  let acme: TestOrganization;
  let job: Awaited<ReturnType<typeof newJob>>;

  beforeEach(async () => {
    world = await startWorld(database, {
      ARTIFACT_BYTES_PER_ORGANIZATION: "1000",
      ARTIFACT_RETENTION_DAYS: "30",
      STORED_BYTES_PER_ORGANIZATION: String(1024 ** 3),
    });
    acme = await setUpOrganization(world);
    job = await newJob(world.services, acme);
  });
  afterEach(() => world.close());

  const ago = (ms: number) => new Date(world.clock.now().getTime() - ms);
  const leave = (given: Parameters<typeof leaveArtifact>[2]) => leaveArtifact(world.services, job, given);
  const states = async () => {
    const { db } = world.services;
    const rows = await db.select().from(db.tables.artifacts);
    return Object.fromEntries(rows.map(({ path, state }) => [path, state]));
  };
  const organization = () => findOrganizationById(world.services.db, acme.id);
  const totalBytes = async () => {
    const { db } = world.services;
    const totals = await db.select().from(db.tables.artifactTotals);
    return totals.reduce((sum, { bytes }) => sum + bytes, 0);
  };

  it("are past their retention, and none while the clock is in doubt", async () => {
    await leave({ path: "old", createdAt: ago(31 * dayMs) });
    await leave({ path: "young", createdAt: ago(29 * dayMs) });

    assert.equal(await evictArtifacts(world.services, { isClockTrusted: false }), 0);
    assert.equal(await evictArtifacts(world.services), 1);

    assert.deepEqual(await states(), { old: "expired", young: "finished" });
    assert.equal(await totalBytes(), 4);
    assert.equal(await evictArtifacts(world.services), 0);
  });

  it("are the oldest of an organization over its limit, without those of uploads that go on", async () => {
    await leave({ path: "open", state: "new", size: 300, createdAt: ago(9 * hourMs) });
    for (const hours of [8, 7, 6, 5, 4])
      await leave({ path: `${hours}`, size: 250, createdAt: ago(hours * hourMs) });

    await evictArtifacts(world.services);

    const finished = "finished";
    assert.deepEqual(await states(), {
      open: "new",
      8: "expired",
      7: "expired",
      6: "expired",
      5: finished,
      4: finished,
    });
    assert.equal(await totalBytes(), 800);
  });

  it("are expired once by two workers, a batch at a time", async () => {
    for (let index = 0; index < 450; index++)
      await leave({ path: `${index}`, size: 10, createdAt: ago(9 * hourMs - index * 1000) });

    await Promise.all([evictArtifacts(world.services), evictArtifacts(world.services)]);

    assert.equal(await totalBytes(), 1000);
    const finished = Object.entries(await states()).filter(([, state]) => state === "finished");
    assert.deepEqual(finished.map(([path]) => Number(path)).sort((a, b) => a - b)[0], 350);
    assert.equal(finished.length, 100);
  });

  it("count in what their organization stores, also those whose bytes still come", async () => {
    await leave({ path: "a", size: 100_000 });
    await leave({ path: "parts", size: 5000, state: "new", storedAt: null, uploadId: "1" });
    await leave({ path: "asked", size: 7000, state: "new", storedAt: null });

    await countStoredBytes(world.services);

    const found = await organization();
    assert.equal((found?.storedBytes ?? 0) - (found?.keptBytes ?? 0), 112_000);
  });

  it("make up for a total that is too high once its hour is past the retention", async () => {
    const { db } = world.services;
    await leave({ path: "a", size: 100 });
    const lost = { organizationId: acme.id, bytes: 900 };
    await db.transaction((tx) => addToTotals(tx, tx.tables.artifactTotals, hourOf(ago(0)), [lost]));

    await evictArtifacts(world.services);
    assert.equal(await totalBytes(), 1000);
    world.clock.advance(30 * dayMs + 2 * hourMs);
    await evictArtifacts(world.services);

    assert.deepEqual([await states(), await totalBytes()], [{ a: "expired" }, 0]);
  });
});
