import assert from "node:assert/strict";
import { afterEach, beforeEach, it } from "node:test";
import { eq, inArray } from "drizzle-orm";
import { purgeBuilds } from "../../shared/builds/keeping/purge.ts";
import { createBuildByHand } from "../../shared/builds/making/by-request.ts";
import { dayMs, hourMs, minuteMs } from "../../shared/durations.ts";
import { newId } from "../../shared/ids.ts";
import { countStoredBytes } from "../../shared/retention/organizations.ts";
import { recountRecords } from "../../shared/retention/records.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";
import { flatBytes } from "./flat-bytes.ts";

describeOnBothDatabases("totals of records", (database) => {
  let world: World;
  let acme: TestOrganization;
  let other: TestOrganization;

  beforeEach(async () => {
    world = await startWorld(database, { BUILD_RETENTION_DAYS: "60" });
    acme = await setUpOrganization(world);
    other = await setUpOrganization(world, "other");
  });
  afterEach(() => world.close());

  const build = async (organization: TestOrganization, message = "") =>
    (await createBuildByHand(world.services, organization.operator, organization.pipeline, { message })).build
      .id;
  /** Without the pipeline and the audit entries, which flat-records.test.ts covers. */
  const recordBytes = async ({ id }: TestOrganization) => {
    await countStoredBytes(world.services);
    const { organizations } = world.services.db.tables;
    const [row] = await world.services.db.select().from(organizations).where(eq(organizations.id, id));
    assert.deepEqual([row?.storedBytes, row?.keptBytes], [row?.recordBytes, row?.recordBytes]);
    return (row?.recordBytes ?? 0) - (await flatBytes(world.services.db, id));
  };

  it("count builds and their jobs once they are a minute old, for their organization", async () => {
    await build(acme, "m".repeat(100));
    assert.equal(await recordBytes(acme), 0);

    world.clock.advance(2 * minuteMs);
    const one = await recordBytes(acme);
    assert.ok(one > 1700 && one < 2500, String(one));
    assert.equal(await recordBytes(other), 0);

    await build(acme, "m".repeat(1100));
    world.clock.advance(2 * minuteMs);
    assert.equal(await recordBytes(acme), 2 * one + 1000);
    assert.equal(await recordBytes(acme), 2 * one + 1000);
  });

  it("lose what is purged, and nothing of others", async () => {
    await build(other);
    await build(acme);
    world.clock.advance(2 * minuteMs);
    const theirs = await recordBytes(other);
    assert.ok((await recordBytes(acme)) > 0);
    const { db, clock } = world.services;
    const { builds } = db.tables;
    await db.transaction(async (tx) => {
      const finished = { state: "passed" as const, finishedAt: clock.now() };
      await tx.update(tx.tables.builds).set(finished).where(eq(builds.organizationId, acme.id));
    });
    world.clock.advance(61 * dayMs);

    assert.equal(await purgeBuilds(world.services, async () => {}), 1);

    assert.equal(await recordBytes(acme), 0);
    assert.equal(await recordBytes(other), theirs);
  });

  it("follow builds of this hour that grow", async () => {
    const { services, clock } = world;
    clock.advance(hourMs + hourMs / 2 - (clock.now().getTime() % hourMs)); // the rounds leave out this hour
    const id = await build(acme);
    world.clock.advance(2 * minuteMs);
    const before = await recordBytes(acme);
    await services.db.transaction((tx) =>
      tx.insertMany(tx.tables.metaData, [{ buildId: id, key: "k", value: "v".repeat(5000) }]),
    );

    await recountRecords(services, { maxBuilds: 1, maxOfHour: 0 });
    assert.equal(await recordBytes(acme), before, "left to the rounds");
    await recountRecords(services, { maxBuilds: 1 });

    assert.equal(await recordBytes(acme), before + 5101);
  });

  it("have the annotations of builds, with their HTML", async () => {
    const { services, clock } = world;
    const id = await build(acme);
    clock.advance(2 * minuteMs);
    const before = await recordBytes(acme);
    const now = clock.now();
    await services.db.transaction((tx) =>
      tx.insertMany(tx.tables.annotations, [
        {
          id: newId(now),
          buildId: id,
          jobId: null,
          scope: "build",
          scopeId: id,
          context: "c",
          style: null,
          priority: 3,
          body: "b".repeat(1000),
          html: "h".repeat(2000),
          createdAt: now,
          updatedAt: now,
        },
      ]),
    );

    await recountRecords(services, { maxBuilds: 1 });

    assert.equal(await recordBytes(acme), before + 3301);
  });

  it("are right again after a recount: of records that grew, went without them or were committed late", async () => {
    const { services } = world;
    const [grown, gone] = [await build(acme), await build(acme)];
    const kept = await build(other);
    world.clock.advance(2 * minuteMs);
    const [before, theirs] = [await recordBytes(acme), await recordBytes(other)];
    await services.db.transaction(async (tx) => {
      const { builds, metaData, organizations, recordTotals } = tx.tables;
      await tx.insert(metaData).values({ buildId: grown, key: "k", value: "v".repeat(5000) });
      await tx.delete(builds).where(inArray(builds.id, [gone]));
      await tx.delete(recordTotals).where(eq(recordTotals.organizationId, other.id));
      await tx.update(organizations).set({ recordBytes: 0 }).where(eq(organizations.id, other.id));
    });
    assert.ok((await recordBytes(other)) < 0);
    world.clock.advance(4 * hourMs);
    await recordBytes(acme);

    for (let run = 0; run < 2; run++) await recountRecords(services, { maxBuilds: 1 });

    assert.equal(await recordBytes(acme), before / 2 + 5101);
    assert.equal(await recordBytes(other), theirs, kept);
  });
});
