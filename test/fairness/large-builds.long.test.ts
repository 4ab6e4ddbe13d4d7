import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { and, eq, gt, isNull } from "drizzle-orm";
import { createPipeline, updatePipeline } from "../../shared/pipelines/pipelines.ts";
import type { Pipeline } from "../../shared/pipelines/store.ts";
import type { DueWork } from "../../shared/tasks/looks.ts";
import { openDueDeliveries } from "../../shared/triggers/deliveries/due.ts";
import { buildOfDelivery, decideDue } from "../helpers/builds.ts";
import { sqlite } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";

describe("deliveries of an organization whose builds have 2,000 jobs each", () => {
  let world: World;
  let worker: DueWork;

  before(async () => {
    world = await startWorld(sqlite);
    worker = openDueDeliveries(world.services);
  });
  after(async () => {
    await worker.close();
    await world.close();
  });

  const enlarge = async ({ operator, pipeline }: TestOrganization): Promise<Pipeline> => {
    const steps = Array.from({ length: 20 }, () => ({ command: "true", parallelism: 100 }));
    await updatePipeline(world.services, operator, pipeline, { steps });
    return pipeline;
  };

  it("are built one by one, in their order, and another organization's before them", async () => {
    const { db } = world.services;
    const { builds } = db.tables;
    const [attacker, victim] = [
      await setUpOrganization(world, "attacker"),
      await setUpOrganization(world, "victim"),
    ];
    const pipeline = await enlarge(attacker);
    const [large, small] = [await attacker.trigger(), await victim.trigger()];
    const ids: string[] = [];
    for (const path of [large.path, large.path, large.path, small.path])
      ids.push((await post(world.url + path, "{}")).body.id);

    worker.wake();
    await worker.idle();

    const made = await db
      .select()
      .from(builds)
      .where(eq(builds.pipelineId, pipeline.id))
      .orderBy(builds.number);
    assert.deepEqual(
      made.map(({ deliveryId }) => deliveryId),
      ids.slice(0, 3),
    );
    const other = await buildOfDelivery(world, ids[3] ?? "");
    assert.ok(other && other.id < (made[0]?.id ?? ""));
  });

  it("do not delay the organization's small builds that come with them", async () => {
    const acme = await setUpOrganization(world, "both");
    const { operator, cluster, pipeline } = acme;
    await updatePipeline(world.services, operator, pipeline, {
      steps: Array.from({ length: 20 }, () => ({ command: "true", parallelism: 100 })),
    });
    const small = { clusterId: cluster.id, slug: "small", name: "Small", steps: [{ command: "true" }] };
    await createPipeline(world.services, operator, small);
    const [ofLarge, ofSmall] = [await acme.trigger(), await acme.trigger({}, "small")];
    const ids: string[] = [];
    for (const { path } of [ofLarge, ofLarge, ofSmall])
      ids.push((await post(world.url + path, "{}")).body.id);

    worker.wake();
    await worker.idle();

    const [first, , last] = await Promise.all(ids.map((id) => buildOfDelivery(world, id)));
    assert.ok(first && last && last.id < first.id);
  });

  it("are left alone by other workers while they wait for their turn", async () => {
    const { services, clock } = world;
    const { operator, pipeline, trigger } = await setUpOrganization(world, "patient");
    await updatePipeline(services, operator, pipeline, {
      steps: Array.from({ length: 20 }, () => ({ command: "true", parallelism: 100 })),
    });
    const { path } = await trigger();
    for (let each = 0; each < 3; each++) await post(world.url + path, "{}");
    worker.wake();
    const { db } = services;
    const { builds, deliveries } = db.tables;
    const isTaken = and(isNull(deliveries.status), gt(deliveries.dueAt, clock.now()));
    await eventually(
      "taken deliveries",
      async () => (await db.select().from(deliveries).where(isTaken)).length > 0,
    );

    const waiting = await db.select().from(deliveries).where(isNull(deliveries.status));
    await decideDue(services);
    await worker.idle();

    assert.ok(waiting.length > 0);
    assert.equal((await db.select().from(builds).where(eq(builds.pipelineId, pipeline.id))).length, 3);
  });
});
