import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { pauseDispatch } from "../../shared/dispatch/pause.ts";
import { hourOf, minuteMs, secondMs } from "../../shared/durations.ts";
import { createBuildsJob } from "../../shared/jobs/contracts.ts";
import { createPipeline } from "../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../shared/queues/queues.ts";
import { addToTotals } from "../../shared/retention/totals-store.ts";
import { openMeasurement } from "../../workers/measure/measure.ts";
import { maxNamed } from "../../workers/measure/queues.ts";
import { agentTokenOf, startAgent } from "../helpers/agent.ts";
import { buildWebhook } from "../helpers/builds.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import { post } from "../helpers/http.ts";
import { openAcme, setUpOrganization } from "../helpers/organization.ts";
import { readMetric, seriesOf } from "../process/metrics/read.ts";

const settings = { PAYLOAD_BYTES_PER_ORGANIZATION: "1000", QUEUES_PER_CLUSTER: "100" };

describeWorld("the worker that measures", withSettings(openAcme, settings), (world) => {
  let measure: () => Promise<void>;

  before(async () => {
    measure = openMeasurement(world.services);
  });

  it("shows how many deliveries wait, and the age of the oldest", async () => {
    const { path } = await world.acme.trigger();
    await post(world.url + path, "{}");
    world.clock.advance(minuteMs);
    await post(world.url + path, "{}");

    await measure();

    assert.equal(await readMetric(world.services, "deliveries_undecided"), 2);
    const age = await readMetric(world.services, "oldest_undecided_delivery_seconds");
    assert.ok(age !== undefined && age >= 60, String(age));
  });

  it("shows the jobs, agents and pause of a queue", async () => {
    const agent = await startAgent(world.url, await agentTokenOf(world, world.acme.cluster));
    const { path } = await world.acme.trigger();
    for (let builds = 0; builds < 3; builds++) await buildWebhook(world, path);
    await agent.begin((await agent.offered()) ?? "");
    world.clock.advance(minuteMs);
    await pauseDispatch(world.services, world.acme.operator, world.acme.queue, null);

    await measure();

    const labels = { organization: "acme", cluster: "Primary", queue: "default" };
    assert.equal(await readMetric(world.services, "queue_waiting_jobs", labels), 2);
    assert.equal(await readMetric(world.services, "queue_running_jobs", labels), 1);
    assert.equal(await readMetric(world.services, "queue_agents", labels), 1);
    assert.equal(await readMetric(world.services, "queue_paused", labels), 1);
    const age = await readMetric(world.services, "queue_oldest_waiting_seconds", labels);
    assert.ok(age !== undefined && age >= 60, String(age));
  });

  it("sums up all but the queues that have most waiting jobs", async () => {
    const rare = 3;
    for (let number = 0; number < maxNamed + rare; number++) {
      const key = `queue-${number}`;
      await createQueue(world.services, world.acme.operator, world.acme.cluster, { key });
      const jobs = number < rare ? 1 : 2;
      await createPipeline(world.services, world.acme.operator, {
        clusterId: world.acme.cluster.id,
        slug: key,
        name: key,
        steps: Array.from({ length: jobs }, () => ({ command: "true", agents: { queue: key } })),
      });
      await buildWebhook(world, (await world.acme.trigger({}, key)).path);
    }

    await measure();

    const series = await seriesOf(world.services, "queue_waiting_jobs");
    assert.equal(series.length, maxNamed + 1);
    const other = series.find(({ labels }) => labels.queue === "(other)");
    assert.deepEqual(other?.labels, { organization: "", cluster: "", queue: "(other)" });
    const total = series.reduce((sum, { value }) => sum + value, 0);
    assert.equal(total, 2 + rare + 2 * maxNamed);
  });

  it("shows stored bytes beside their limit", async () => {
    const { db, clock } = world.services;
    const hour = hourOf(clock.now());
    await db.transaction(async (tx) => {
      const bytes = [{ organizationId: world.acme.id, bytes: 700 }];
      await addToTotals(tx, tx.tables.payloadTotals, hour, bytes);
      await addToTotals(tx, tx.tables.payloadTotals, new Date(hour.getTime() - 60 * minuteMs), bytes);
    });
    const other = await setUpOrganization(world, "other");
    const bytes = [{ organizationId: other.id, bytes: 11 }];
    await db.transaction((tx) => addToTotals(tx, tx.tables.payloadTotals, hour, bytes));

    const fresh = await world.another();
    world.clock.advance(minuteMs); // the time of the first has ended
    await openMeasurement(fresh.services)();

    const kind = { kind: "payloads" };
    assert.equal(await readMetric(fresh.services, "stored_bytes", kind), 1411);
    assert.equal(await readMetric(fresh.services, "largest_stored_bytes", kind), 1400);
    assert.equal(await readMetric(fresh.services, "stored_bytes_limit", kind), 1000);
    assert.equal(await readMetric(fresh.services, "stored_bytes", { kind: "logs" }), 0);
  });

  it("shows what organizations store in all, and their builds", async () => {
    const { organizations } = world.services.db.tables;
    await world.services.db.transaction(async (tx) => {
      await tx.update(organizations).set({ storedBytes: 5, keptBytes: 3 });
      await tx
        .update(organizations)
        .set({ storedBytes: 700, keptBytes: 400 })
        .where(eq(organizations.id, world.acme.id));
    });
    const fresh = await world.another();
    world.clock.advance(minuteMs); // the time of the last one has ended

    await openMeasurement(fresh.services)();

    const read = (name: string, kind: string) => readMetric(fresh.services, name, { kind });
    const limit = fresh.services.config.storedBytesPerOrganization;
    assert.deepEqual([await read("stored_bytes", "all"), await read("stored_bytes", "kept")], [705, 403]);
    assert.deepEqual(
      [await read("largest_stored_bytes", "all"), await read("largest_stored_bytes", "kept")],
      [700, 400],
    );
    assert.equal(await read("stored_bytes_limit", "kept"), limit);
  });

  it("is one of several; another takes over when it stops", async () => {
    world.clock.advance(minuteMs);
    await measure();
    const another = await world.another();
    const measureElsewhere = openMeasurement(another.services);
    await measureElsewhere();
    const before = [
      await readMetric(world.services, "measured_timestamp_seconds"),
      await readMetric(another.services, "measured_timestamp_seconds"),
    ];

    world.clock.advance(46 * secondMs); // the first one does not renew its time
    await measureElsewhere();
    await measure();

    assert.ok(before[0] !== undefined && before[1] === undefined, String(before));
    assert.equal(await readMetric(world.services, "measured_timestamp_seconds"), undefined);
    assert.equal(await readMetric(world.services, "queue_waiting_jobs"), undefined);
    assert.ok((await readMetric(another.services, "measured_timestamp_seconds")) !== undefined);
  });

  it("shows background jobs by work queue and state, and the size of the database", async () => {
    world.clock.advance(minuteMs);
    await world.services.jobs.send(createBuildsJob);

    await measure();

    const waiting = await readMetric(world.services, "background_jobs", {
      queue: "deliveries",
      state: "waiting",
    });
    assert.ok(waiting !== undefined && waiting > 0);
    assert.equal(
      await readMetric(world.services, "background_jobs", { queue: "dispatch", state: "failed" }),
      0,
    );
    const bytes = await readMetric(world.services, "database_bytes");
    assert.ok(bytes !== undefined && bytes > 0);
    assert.equal(await readMetric(world.services, "database_writable"), 1);
  });
});
