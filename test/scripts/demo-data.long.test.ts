import assert from "node:assert/strict";
import { before, it } from "node:test";
import { makeDemoData } from "../../scripts/demo/make.ts";
import { findOrganization } from "../../shared/accounts/organization-store.ts";
import { hourMs } from "../../shared/durations.ts";
import type { Services } from "../../shared/services/services.ts";
import { buildStates } from "../../shared/vocabulary.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { startWorld } from "../helpers/world.ts";

describeWorldOn(sqlite, "npm run demo:data", startWorld, (world) => {
  let services: Services;

  before(async () => {
    services = world.services;
    await world.startWorkers();
  });

  it("makes builds in all states, deliveries, refusals and pauses", async () => {
    const progress: number[] = [];
    const onProgress = (done: number) => progress.push(done);
    const made = await makeDemoData(services, { onProgress, days: 2, deliveriesPerHour: 6 });
    const { builds, deliveries, clusters, queues, pipelines, refusedDeliveries, figures } =
      services.db.tables;
    const all = await services.db.select().from(builds);
    const received = await services.db.select().from(deliveries);

    assert.deepEqual(new Set(all.map(({ state }) => state)), new Set(buildStates));
    assert.deepEqual([all.length, received.length], [made.builds, made.deliveries]);
    assert.ok(all.length >= 30 && received.length >= 100); // Sundays are quiet
    assert.equal((await services.db.select().from(clusters)).length, 3);
    assert.equal((await services.db.select().from(queues)).length, 12);
    assert.equal((await services.db.select().from(pipelines)).length, 6);
    const times = received.map(({ receivedAt }) => receivedAt.getTime());
    assert.ok(Math.max(...times) - Math.min(...times) > 40 * hourMs, "it spans the days");
    assert.ok(all.every(({ startedAt, finishedAt }) => !finishedAt || !startedAt || startedAt < finishedAt));
    assert.ok((await services.db.select().from(refusedDeliveries)).length > 10);
    const counted = (await services.db.select().from(figures)).reduce((sum, { value }) => sum + value, 0);
    assert.ok(counted >= received.length, "charts have their figures");
    assert.ok(all.every(({ finishedAt }) => !finishedAt || finishedAt < world.clock.now()));
    assert.deepEqual(
      progress,
      progress.toSorted((a, b) => a - b),
    );
    assert.equal(progress.at(-1), 1);
  });

  it("says so if it was made before, and changes nothing", async () => {
    await assert.rejects(
      makeDemoData(services, { onProgress: () => {} }),
      /There is an organization harbour already/,
    );
    assert.ok(await findOrganization(services.db, "harbour"));
  });
});
