import assert from "node:assert/strict";
import { afterEach, beforeEach, it } from "node:test";
import { eq } from "drizzle-orm";
import { oldAuditEvents } from "../../shared/accounts/audit.ts";
import { createCluster, deleteCluster } from "../../shared/clusters/clusters.ts";
import { dayMs, hourMs, minuteMs } from "../../shared/durations.ts";
import { createPipeline, deletePipeline, updatePipeline } from "../../shared/pipelines/pipelines.ts";
import { countStoredBytes } from "../../shared/retention/organizations.ts";
import { recountRecords } from "../../shared/retention/records.ts";
import { createSecret, deleteSecret, replaceSecretValue } from "../../shared/secrets/secrets.ts";
import { updateTrigger } from "../../shared/triggers/triggers.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";

const plain = { description: null, policy: null };

describeOnBothDatabases("stored bytes of audit entries, pipelines, triggers and secrets", (database) => {
  let world: World;
  let acme: TestOrganization;
  let other: TestOrganization;
  /** Of `acme`, before a test begins. */
  let base: number;

  beforeEach(async () => {
    world = await startWorld(database, { AUDIT_RETENTION_DAYS: "90" });
    acme = await setUpOrganization(world);
    other = await setUpOrganization(world, "other");
    world.clock.advance(2 * minuteMs);
    base = await keptBytes(acme);
  });
  afterEach(() => world.close());

  const keptBytes = async ({ id }: TestOrganization) => {
    await countStoredBytes(world.services);
    const { organizations } = world.services.db.tables;
    const [row] = await world.services.db.select().from(organizations).where(eq(organizations.id, id));
    return row?.keptBytes ?? 0;
  };
  const isAbout = async (expected: number) => {
    world.clock.advance(2 * minuteMs);
    const added = (await keptBytes(acme)) - base;
    const slack = 10_000; // rows, sealing, and audit entries of the changes
    assert.ok(added > expected - 100 && added < expected + slack, `${added}, not ${expected}`);
  };
  const newSecret = (value: string, cluster = acme.cluster) =>
    createSecret(world.services, acme.operator, cluster, { key: "TOKEN", value, ...plain });

  it("count once they are a minute old, for their organization", async () => {
    const theirs = await keptBytes(other);
    await createPipeline(world.services, acme.operator, {
      clusterId: acme.cluster.id,
      slug: "next",
      name: "Next",
      steps: [{ command: "x".repeat(20_000) }],
    });
    await isAbout(20_000);
    await newSecret("s".repeat(30_000));
    await isAbout(60_000); // sealed text is longer than its value

    await acme.trigger({ environment: { A: "a".repeat(30_000) } });
    await isAbout(100_000);
    assert.equal(await keptBytes(other), theirs);
  });

  it("count changes at once", async () => {
    const { services } = world;
    const { id } = acme.pipeline;
    const trigger = await acme.trigger();
    const secret = await newSecret("s");
    await isAbout(1000);

    await updatePipeline(services, acme.operator, { id }, { steps: [{ command: "x".repeat(50_000) }] });
    await isAbout(51_000);
    await updateTrigger(services, acme.operator, trigger, { buildMessage: "m".repeat(200) });
    await replaceSecretValue(services, acme.operator, secret, "s".repeat(60_000));
    await isAbout(131_000);

    await deleteSecret(services, acme.operator, secret);
    await isAbout(51_000);
    await deletePipeline(services, acme.operator, { id });
    await isAbout(1000);
  });

  it("lose the secrets of a deleted cluster", async () => {
    const cluster = await createCluster(world.services, acme.operator, { name: "Next" });
    await newSecret("s".repeat(60_000), cluster);
    await isAbout(80_000);

    await deleteCluster(world.services, acme.operator, cluster);

    await isAbout(0);
  });

  it("lose audit entries with their age", async () => {
    world.clock.advance(91 * dayMs);
    const entries = await oldAuditEvents.purge(world.services);

    assert.ok(entries > 5, String(entries));
    assert.ok((await keptBytes(acme)) < base - 1000);
    assert.ok((await keptBytes(acme)) > 1300, "the pipeline");
  });

  it("are found by the recount if they are from before they were counted", async () => {
    const { db } = world.services;
    const theirs = await keptBytes(other);
    await db.transaction(async (tx) => {
      await tx.delete(tx.tables.recordTotals);
      await tx.update(tx.tables.organizations).set({ recordBytes: 0 });
    });
    world.clock.advance(4 * hourMs);
    assert.equal(await keptBytes(acme), 0);

    await recountRecords(world.services);

    assert.equal(await keptBytes(acme), base);
    assert.equal(await keptBytes(other), theirs);
  });
});
