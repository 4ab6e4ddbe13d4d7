import assert from "node:assert/strict";
import { before, it } from "node:test";
import { count, eq } from "drizzle-orm";
import { oldAuditEvents } from "../../shared/accounts/audit.ts";
import { purgeBuilds } from "../../shared/builds/keeping/purge.ts";
import { dayMs, hourMs } from "../../shared/durations.ts";
import { purgeAll } from "../../shared/retention/expiring.ts";
import type { Services } from "../../shared/services/services.ts";
import { evictPayloads, oldDeliveries } from "../../shared/triggers/payloads/payloads.ts";
import { buildOfDelivery, countBuilds, decide, findDelivery } from "../helpers/builds.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import { post } from "../helpers/http.ts";
import { openAcme, setUpOrganization, type TestOrganization } from "../helpers/organization.ts";

const purgeDeliveries = async (services: Services) =>
  (await purgeAll(services, oldDeliveries)).deliveries ?? 0;

const settings = {
  PAYLOAD_RETENTION_DAYS: "7",
  PAYLOAD_BYTES_PER_ORGANIZATION: "10000",
  DELIVERY_RETENTION_DAYS: "30",
  BUILD_RETENTION_DAYS: "60",
  AUDIT_RETENTION_DAYS: "90",
};

describeWorld("retention", withSettings(openAcme, settings), (world) => {
  let other: TestOrganization;
  let path: string;
  let otherPath: string;

  before(async () => {
    other = await setUpOrganization(world, "other");
    path = (await world.acme.trigger()).path;
    otherPath = (await other.trigger()).path;
  });

  const deliver = async (to = path, bytes = 100) =>
    (await post(world.url + to, JSON.stringify("x".repeat(bytes - 2)))).body.id as string;
  const build = (...ids: string[]) => decide(world.services, ids);
  const keptPayloads = async () => {
    const { db } = world.services;
    return (await db.select({ id: db.tables.payloads.deliveryId }).from(db.tables.payloads)).map(
      (row) => row.id,
    );
  };

  it("evicts payloads after PAYLOAD_RETENTION_DAYS, and none of a pending delivery", async () => {
    const [old, waiting] = [await deliver(), await deliver()];
    await build(old);
    world.clock.advance(7 * dayMs - 60_000);
    assert.equal(await evictPayloads(world.services), 0);
    const young = await deliver();
    await build(young);

    world.clock.advance(120_000);
    assert.equal(await evictPayloads(world.services), 1);

    assert.deepEqual((await keptPayloads()).sort(), [waiting, young].sort());
    assert.ok(await findDelivery(world, old), "the record stays");
    await build(waiting);
    assert.equal(await evictPayloads(world.services), 1);
    world.clock.advance(8 * dayMs);
    await evictPayloads(world.services);
    assert.deepEqual(await keptPayloads(), []);
  });

  it("evicts only the oldest payloads of an organization above its byte limit", async () => {
    const mine: string[] = [];
    for (let sent = 0; sent < 6; sent++) mine.push(await deliver(path, 3000));
    const theirs = await deliver(otherPath, 9000);
    const waiting = await deliver(path, 3000);
    await build(...mine, theirs);
    assert.equal(await evictPayloads(world.services), 0, "young payloads are not counted");
    world.clock.advance(hourMs);

    assert.equal(await evictPayloads(world.services), 4);

    assert.deepEqual((await keptPayloads()).sort(), [...mine.slice(4), theirs, waiting].sort());
    assert.equal(await evictPayloads(world.services), 0);
  });

  it("evicts many payloads in batches, and returns the space", async () => {
    const ids = await Promise.all(Array.from({ length: 450 }, () => deliver(path, 1000)));
    await build(...ids);
    world.clock.advance(hourMs);
    assert.ok((await evictPayloads(world.services)) > 400);
    const { db } = world.services;
    const { payloads } = db.tables;
    const rows = await db
      .select({ size: payloads.size })
      .from(payloads)
      .where(eq(payloads.organizationId, world.acme.id));
    assert.ok(rows.reduce((total, row) => total + row.size, 0) <= 10_000);
    assert.equal(await db.vacuum(10), 0, "nothing is left to give back");
  });

  it("purges decided deliveries after DELIVERY_RETENTION_DAYS, and keeps their builds", async () => {
    const [old, waiting] = [await deliver(), await deliver()];
    await build(old);
    world.clock.advance(31 * dayMs);

    assert.ok((await purgeDeliveries(world.services)) > 0);

    assert.equal(await findDelivery(world, old), undefined);
    assert.ok(await findDelivery(world, waiting));
    assert.ok((await countBuilds(world)) > 0);
    await build(waiting);
    assert.ok(await buildOfDelivery(world, waiting));
  });

  it("purges finished builds with their jobs after BUILD_RETENTION_DAYS, and no unfinished build", async () => {
    const { db } = world.services;
    const { builds, jobs } = db.tables;
    const finished = (await db.select().from(builds))[0];
    assert.ok(finished);
    await db.transaction(async (tx) => {
      await tx
        .update(tx.tables.builds)
        .set({ state: "passed", finishedAt: world.clock.now() })
        .where(eq(tx.tables.builds.id, finished.id));
    });
    const before = await countBuilds(world);
    world.clock.advance(59 * dayMs);
    assert.equal(await purgeBuilds(world.services, async () => {}), 0);
    world.clock.advance(2 * dayMs);

    assert.equal(await purgeBuilds(world.services, async () => {}), 1);

    assert.equal(await countBuilds(world), before - 1);
    assert.deepEqual(await db.select().from(jobs).where(eq(jobs.buildId, finished.id)), []);
  });

  it("purges audit entries after AUDIT_RETENTION_DAYS", async () => {
    const { db } = world.services;
    const countEvents = async () =>
      (await db.select({ total: count() }).from(db.tables.auditEvents))[0]?.total;
    world.clock.advance(91 * dayMs);
    await other.trigger();
    assert.ok((await oldAuditEvents.purge(world.services)) > 5);
    assert.equal(await countEvents(), 1);
  });

  it("purges expired idempotency keys", async () => {
    await post(world.url + path, "{}", { "Idempotency-Key": "k" });
    const { db } = world.services;
    const keys = async () => (await db.select().from(db.tables.idempotencyKeys)).length;
    await purgeDeliveries(world.services);
    assert.equal(await keys(), 1);
    world.clock.advance(dayMs + 1);
    await purgeDeliveries(world.services);
    assert.equal(await keys(), 0);
  });
});
