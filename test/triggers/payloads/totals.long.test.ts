import assert from "node:assert/strict";
import { afterEach, beforeEach, it } from "node:test";
import { inArray } from "drizzle-orm";
import type { Db } from "../../../shared/db/database.ts";
import { dayMs, hourMs, hourOf, minuteMs } from "../../../shared/durations.ts";
import { newId, timeOfId } from "../../../shared/ids.ts";
import { purgeAll } from "../../../shared/retention/expiring.ts";
import type { Services } from "../../../shared/services/services.ts";
import { evictPayloads, oldDeliveries } from "../../../shared/triggers/payloads/payloads.ts";
import { findPayload } from "../../../shared/triggers/payloads/store.ts";
import { countPayloads } from "../../../shared/triggers/payloads/totals.ts";
import { describeOnBothDatabases } from "../../helpers/databases.ts";
import { setUpOrganization, type TestOrganization } from "../../helpers/organization.ts";
import { startWorld, type World } from "../../helpers/world.ts";

const maxBytes = 10_000;
/** A step is a transaction. */
const small = { rowsAtOnce: 7, maxTransactions: 1000 };

const purgeDeliveries = async (services: Services) =>
  (await purgeAll(services, oldDeliveries)).deliveries ?? 0;

describeOnBothDatabases("totals of payloads", (database) => {
  let world: World;
  let acme: TestOrganization;
  let other: TestOrganization;
  let triggers: Map<string, string>;

  beforeEach(async () => {
    world = await startWorld(database, { PAYLOAD_BYTES_PER_ORGANIZATION: String(maxBytes) });
    acme = await setUpOrganization(world);
    other = await setUpOrganization(world, "other");
    triggers = new Map([
      [acme.id, (await acme.trigger()).id],
      [other.id, (await other.trigger()).id],
    ]);
  });
  afterEach(() => world.close());

  interface Stored {
    organizationId?: string;
    ageMs?: number;
    size?: number;
    isDecided?: boolean;
  }

  /** Stores payloads like accepted deliveries. Returns their ids. */
  async function store(
    amount: number,
    makeStored: (index: number) => Stored = () => ({}),
  ): Promise<string[]> {
    const { db, clock } = world.services;
    const rows = Array.from({ length: amount }, (_, index) => {
      const { organizationId = acme.id, ageMs = hourMs, size = 100, isDecided = true } = makeStored(index);
      const receivedAt = new Date(clock.now().getTime() - ageMs);
      const id = newId(receivedAt);
      const delivery = {
        id,
        triggerId: triggers.get(organizationId) ?? "",
        receivedAt,
        contentType: "application/json",
        externalId: null,
        event: null,
        size,
        status: isDecided ? ("build_created" as const) : null,
        reason: null,
        dueAt: receivedAt,
        organizationId,
        isFiltered: false,
      };
      const payload = {
        deliveryId: id,
        organizationId,
        size,
        headers: [],
        codec: "identity" as const,
        body: Buffer.alloc(size, "1"),
      };
      return { delivery, payload };
    });
    await db.transaction(async (tx) => {
      await tx.insertMany(
        tx.tables.deliveries,
        rows.map(({ delivery }) => delivery),
      );
      await tx.insertMany(
        tx.tables.payloads,
        rows.map(({ payload }) => payload),
      );
    });
    return rows.map(({ delivery }) => delivery.id);
  }

  const readTotals = async () => {
    const { db } = world.services;
    const rows = await db.select().from(db.tables.payloadTotals);
    return byOrganizationAndHour(rows.filter(({ bytes }) => bytes !== 0));
  };
  const readPayloads = async () => {
    const { db } = world.services;
    const { deliveryId, organizationId, size } = db.tables.payloads;
    return db.select({ deliveryId, organizationId, size }).from(db.tables.payloads);
  };
  /** The sums of all payloads that are old enough to be counted. */
  const sumPayloads = async () => {
    const countedBefore = world.clock.now().getTime() - 10 * minuteMs;
    const payloads = (await readPayloads()).map(({ deliveryId, organizationId, size }) => ({
      organizationId,
      time: timeOfId(deliveryId),
      bytes: size,
    }));
    return byOrganizationAndHour(
      payloads
        .filter(({ time }) => time.getTime() < countedBefore)
        .map((each) => ({ ...each, hour: hourOf(each.time) })),
    );
  };
  const bytesOf = async (organizationId: string) =>
    (await readPayloads())
      .filter((payload) => payload.organizationId === organizationId)
      .reduce((total, { size }) => total + size, 0);

  it("count and evict as before once a clock is right that was days ahead", async () => {
    await store(1, () => ({ ageMs: -8 * dayMs }));
    world.clock.advance(9 * dayMs);
    await evictPayloads(world.services, { isClockTrusted: false });
    world.clock.advance(-9 * dayMs);

    await store(110);
    const evicted = await evictPayloads(world.services);

    assert.equal(evicted, 10);
    assert.deepEqual(await readTotals(), await sumPayloads());
  });

  it("are exact when every step of a run breaks off once, before or at its commit", async () => {
    const { services } = world;
    await store(60, (index) => ({ ageMs: hourMs + index * 10 * minuteMs, size: 500 }));
    await store(40, () => ({ ageMs: 8 * dayMs }));

    for (let steps = 0, isDone = false; !isDone; steps++) {
      const crashing = { ...services, db: crashAfter(services.db, steps) };
      await countPayloads(crashing, small).catch(expectCrash);
      isDone = await evictPayloads(crashing).then(() => true, expectCrash);
      const { config } = services;
      await purgeDeliveries({ ...crashing, config: { ...config, deliveryRetentionDays: 8 } }).catch(
        expectCrash,
      );
      assert.ok(steps < 100);
    }

    await countPayloads(services);
    assert.deepEqual(await readTotals(), await sumPayloads());
    assert.equal(await bytesOf(acme.id), maxBytes);
  });

  it("are exact, and evict no more than the excess, when workers run at once", async () => {
    const others = [await world.another(), await world.another()];
    const workers = [world.services, ...others.map(({ services }) => services)];
    await store(90, (index) => ({
      organizationId: index % 2 === 0 ? other.id : acme.id,
      ageMs: hourMs + index * 10 * minuteMs,
      size: 700,
    }));
    await store(40, () => ({ ageMs: 8 * dayMs }));

    const run = async (services: Services, index: number) => {
      const config = { ...services.config, deliveryRetentionDays: 8 - index };
      await countPayloads(services, { ...small, rowsAtOnce: 3 + index });
      await Promise.all([evictPayloads(services), purgeDeliveries({ ...services, config })]);
    };
    const delivering = async () => {
      for (let sent = 0; sent < 20; sent++) await store(5, () => ({ ageMs: 0 }));
    };
    await Promise.all([...workers.map(run), delivering()]);

    await Promise.all(workers.map((services) => evictPayloads(services)));
    assert.deepEqual(await readTotals(), await sumPayloads());
    // 14 payloads of 700 bytes fit, and 100 young ones of 100 bytes are not counted.
    assert.deepEqual([await bytesOf(acme.id), await bytesOf(other.id)], [9800 + 10_000, 9800]);
  });

  it("evict the oldest decided payloads down to the limit, and nothing of others", async () => {
    const theirs = await store(100, () => ({ organizationId: other.id, ageMs: 2 * dayMs }));
    const waiting = await store(30, () => ({ ageMs: 3 * dayMs, isDecided: false }));
    const mine = await store(300, (index) => ({ ageMs: 2 * dayMs - index * minuteMs }));

    assert.equal(await evictPayloads(world.services), 230);

    const kept = (await readPayloads()).map(({ deliveryId }) => deliveryId);
    assert.deepEqual(kept.sort(), [...theirs, ...waiting, ...mine.slice(230)].sort());
    assert.equal(await evictPayloads(world.services), 0);
  });

  it("spare waiting deliveries, also when they alone are over the limit", async () => {
    const waiting = await store(250, () => ({ ageMs: 8 * dayMs, isDecided: false }));
    const [decided] = await store(1);

    assert.equal(await evictPayloads(world.services), 1);

    assert.equal((await readPayloads()).length, 250);
    assert.equal(await findPayload(world.services.db, decided ?? ""), undefined);
    await decide(waiting);
    assert.equal(await evictPayloads(world.services), 250);
    assert.deepEqual(await readTotals(), new Map());
  });

  it("are right again after payloads were deleted without them", async () => {
    const lost = await store(150, () => ({ ageMs: 5 * hourMs }));
    const kept = await store(90);
    await countPayloads(world.services);
    const { db } = world.services;
    await db.transaction(async (tx) => {
      const { payloads } = tx.tables;
      await tx.delete(payloads).where(inArray(payloads.deliveryId, lost));
    });

    assert.equal(await evictPayloads(world.services), 0);

    assert.equal((await readPayloads()).length, kept.length);
    assert.deepEqual(await readTotals(), await sumPayloads());
  });

  async function decide(ids: string[]): Promise<void> {
    await world.services.db.transaction(async (tx) => {
      const { deliveries } = tx.tables;
      await tx.update(deliveries).set({ status: "build_created" }).where(inArray(deliveries.id, ids));
    });
  }
});

function byOrganizationAndHour(rows: { organizationId: string; hour: Date; bytes: number }[]) {
  const keys = rows.map(({ organizationId, hour }) => `${organizationId} ${hour.toISOString()}`);
  const sums = new Map<string, number>();
  for (const [index, key] of keys.entries()) sums.set(key, (sums.get(key) ?? 0) + (rows[index]?.bytes ?? 0));
  return new Map([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
}

class Crash extends Error {}

/** Rolls back the transaction after so many, and refuses all that follow. */
function crashAfter(db: Db, transactions: number): Db {
  let left = transactions;
  const transaction: Db["transaction"] = (work) =>
    db.transaction(async (tx) => {
      const result = await work(tx);
      if (left-- <= 0) throw new Crash();
      return result;
    });
  return { ...db, transaction };
}

function expectCrash(error: unknown): false {
  if (!(error instanceof Crash)) throw error;
  return false;
}
