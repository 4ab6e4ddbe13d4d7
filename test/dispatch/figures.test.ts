import assert from "node:assert/strict";
import { before, it } from "node:test";
import { createBuildByHand } from "../../shared/builds/making/by-request.ts";
import { cancelBuild } from "../../shared/builds/progress/cancel.ts";
import { queueFigures, sampleQueues, samplingId } from "../../shared/dispatch/figures.ts";
import { dayMs, hourMs, minuteMs } from "../../shared/durations.ts";
import { oldFigures } from "../../shared/figures/hours.ts";
import { listFigures } from "../../shared/figures/store.ts";
import { purgeAll } from "../../shared/retention/expiring.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openAcme } from "../helpers/organization.ts";

describeWorld("figures of queues", openAcme, (world) => {
  before(async () => {
    const { clock } = world;
    clock.freeze();
    clock.advance(hourMs - (clock.now().getTime() % hourMs));
  });

  const build = () =>
    createBuildByHand(world.services, world.acme.operator, world.acme.pipeline, { source: "ui" });
  const waiting = async () => {
    const since = new Date(world.clock.now().getTime() - 30 * dayMs);
    const rows = await listFigures(world.services.db, [world.acme.queue.id], since);
    return rows.filter(({ figure }) => figure === "jobs_waiting").map(({ value }) => value);
  };

  it("say when a worker looked, also at nothing", async () => {
    const since = new Date(world.clock.now().getTime() - 30 * dayMs);
    const looks = async () => {
      const rows = await listFigures(world.services.db, [samplingId], since);
      return rows.map(({ figure, value }) => [figure, value]);
    };
    assert.deepEqual(await looks(), []);

    await sampleQueues(world.services);
    await sampleQueues(world.services);

    assert.deepEqual(await looks(), [["queues_sampled", 1]]);
  });

  it("are the most of ten minutes, then of an hour, until they are purged", async () => {
    await sampleQueues(world.services);
    assert.deepEqual(await waiting(), [], "nothing waits");
    const builds = [await build(), await build()];
    await sampleQueues(world.services);
    for (const { build } of builds)
      await cancelBuild(world.services, world.acme.operator, world.acme.pipeline, build.number);
    world.clock.advance(9 * minuteMs);
    await sampleQueues(world.services);
    assert.deepEqual(await waiting(), [2]);

    world.clock.advance(minuteMs);
    await build();
    await sampleQueues(world.services);
    world.clock.advance(10 * minuteMs);
    await build();
    await build();
    await Promise.all([sampleQueues(world.services), sampleQueues(world.services)]);
    assert.deepEqual(await waiting(), [2, 1, 3]);

    world.clock.advance(28 * hourMs);
    await sampleQueues(world.services);
    assert.deepEqual(await waiting(), [3, 3]);

    world.clock.advance(7 * dayMs);
    await purgeAll(world.services, oldFigures(queueFigures));
    assert.deepEqual(await waiting(), [3]);
  });
});
