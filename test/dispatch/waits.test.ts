import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { createBuildByHand } from "../../shared/builds/making/by-request.ts";
import { findWaits, waitFigures } from "../../shared/dispatch/wait-figures.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../shared/durations.ts";
import { rollUp } from "../../shared/figures/roll-up.ts";
import { createQueue } from "../../shared/queues/queues.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openAcme } from "../helpers/organization.ts";

describeWorld("the waits of a queue", openAcme, (world) => {
  before(() => world.clock.freeze());

  /** A build whose job waited so long. Undefined: no agent took it. */
  const finish = async (waitedMs: number | undefined, finishedAt: Date | null) => {
    const { build } = await createBuildByHand(world.services, world.acme.operator, world.acme.pipeline, {
      source: "ui",
    });
    const scheduledAt = new Date(world.clock.now().getTime() - dayMs);
    const acceptedAt = waitedMs === undefined ? null : new Date(scheduledAt.getTime() + waitedMs);
    await world.services.db.transaction(async (tx) => {
      const { builds, jobs } = tx.tables;
      await tx.update(builds).set({ state: "passed", finishedAt }).where(eq(builds.id, build.id));
      await tx.update(jobs).set({ scheduledAt, acceptedAt }).where(eq(jobs.buildId, build.id));
    });
  };
  const ago = (ms: number) => new Date(world.clock.now().getTime() - ms);
  const waits = async (since: Date, queueId = world.acme.queue.id) => {
    await rollUp(world.services, waitFigures);
    return findWaits(world.services.db, queueId, since);
  };

  it("are unknown before a build finished", async () => {
    await finish(secondMs, null);
    await finish(undefined, ago(minuteMs));

    assert.equal(await waits(ago(dayMs)), undefined);
  });

  it("are the limits that half of the jobs and 95 % are within", async () => {
    for (let jobs = 0; jobs < 10; jobs++) await finish(jobs * 10, ago(minuteMs));
    for (let jobs = 0; jobs < 9; jobs++) await finish(5 * secondMs + 1, ago(2 * minuteMs));
    assert.deepEqual(await waits(ago(dayMs)), { jobs: 19, medianMs: secondMs, p95Ms: 15 * secondMs });

    await finish(40 * secondMs, ago(minuteMs));
    await finish(2 * hourMs, ago(minuteMs));
    await finish(3 * hourMs, ago(minuteMs));
    assert.deepEqual(await waits(ago(dayMs)), { jobs: 22, medianMs: 15 * secondMs, p95Ms: 4 * hourMs });

    for (let jobs = 0; jobs < 60; jobs++) await finish(2 * dayMs, ago(minuteMs));
    const { medianMs, p95Ms } = (await waits(ago(dayMs))) ?? {};
    assert.deepEqual([medianMs, p95Ms], [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
  });

  it("leave out earlier builds and other queues", async () => {
    const other = await createQueue(world.services, world.acme.operator, world.acme.cluster, {
      key: "other",
    });

    assert.equal(await waits(ago(-minuteMs)), undefined);
    assert.equal(await waits(ago(dayMs), other.id), undefined);
  });
});
