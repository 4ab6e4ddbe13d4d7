import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { and, eq, gt, inArray, isNull } from "drizzle-orm";
import { secondMs } from "../../shared/durations.ts";
import { createPipeline, updatePipeline } from "../../shared/pipelines/pipelines.ts";
import type { Pipeline } from "../../shared/pipelines/store.ts";
import { type DeliveryBuilder, openDeliveryBuilder } from "../../shared/triggers/deliveries/build.ts";
import { requeueStranded } from "../../shared/triggers/deliveries/requeue.ts";
import { sqlite } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";

describe("deliveries of an organization whose builds have 2,000 jobs each", () => {
  let world: World;
  let builder: DeliveryBuilder;

  before(async () => {
    world = await startWorld(sqlite);
    builder = openDeliveryBuilder(world.services);
  });
  after(async () => {
    await builder.close();
    await world.close();
  });

  const enlarge = async ({ operator, pipeline }: TestOrganization): Promise<Pipeline> => {
    const steps = Array.from({ length: 20 }, () => ({ command: "true", parallelism: 100 }));
    await updatePipeline(world.services, operator, pipeline, { steps });
    return pipeline;
  };

  it("are built one by one, in their order, and another organization's before them", async () => {
    const { db } = world.services;
    const { builds, deliveries } = db.tables;
    const [attacker, victim] = [
      await setUpOrganization(world, "attacker"),
      await setUpOrganization(world, "victim"),
    ];
    const pipeline = await enlarge(attacker);
    const [large, small] = [await attacker.trigger(), await victim.trigger()];
    const ids: string[] = [];
    for (const path of [large.path, large.path, large.path, small.path])
      ids.push((await post(world.url + path, "{}")).body.id);

    await Promise.all(ids.map((id) => builder.add(id)));
    const waiting = await db.select().from(builds).where(eq(builds.pipelineId, pipeline.id));
    const [decided] = await db
      .select()
      .from(deliveries)
      .where(eq(deliveries.id, ids[3] as string));
    await builder.idle();

    assert.equal(decided?.status, "build_created");
    assert.ok(waiting.length < 3, `${waiting.length} large builds were made before`);
    const made = await db
      .select()
      .from(builds)
      .where(eq(builds.pipelineId, pipeline.id))
      .orderBy(builds.number);
    assert.deepEqual(
      made.map(({ deliveryId }) => deliveryId),
      ids.slice(0, 3),
    );
  });

  it("rest after each, also when they come one by one", async () => {
    const { db } = world.services;
    const { builds } = db.tables;
    const [attacker, victim] = [
      await setUpOrganization(world, "one-by-one"),
      await setUpOrganization(world, "another"),
    ];
    const pipeline = await enlarge(attacker);
    const [large, small] = [await attacker.trigger(), await victim.trigger()];
    const countBuilds = async ({ id }: Pick<Pipeline, "id">) =>
      (await db.select().from(builds).where(eq(builds.pipelineId, id))).length;

    for (const path of [large.path, large.path, small.path])
      await builder.add((await post(world.url + path, "{}")).body.id);
    const made = [await countBuilds(pipeline), await countBuilds(victim.pipeline)];
    await builder.idle();

    assert.ok((made[0] ?? 0) < 2, "the second large build did not rest");
    assert.equal(made[1], 1);
    assert.equal(await countBuilds(pipeline), 2);
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

    await Promise.all(ids.map((id) => builder.add(id)));
    const { db } = world.services;
    const { deliveries } = db.tables;
    const found = await db
      .select()
      .from(deliveries)
      .where(inArray(deliveries.id, ids))
      .orderBy(deliveries.id);
    await builder.idle();

    assert.deepEqual(found.map(({ status }) => status).slice(1), [null, "build_created"]);
  });

  it("are not requeued while they wait for their turn", async () => {
    const { services, clock } = world;
    const { operator, pipeline, trigger } = await setUpOrganization(world, "patient");
    await updatePipeline(services, operator, pipeline, {
      steps: Array.from({ length: 20 }, () => ({ command: "true", parallelism: 100 })),
    });
    const { path } = await trigger();
    const ids: string[] = [];
    for (let each = 0; each < 3; each++) ids.push((await post(world.url + path, "{}")).body.id);
    clock.advance(6 * secondMs);
    await Promise.all(ids.map((id) => builder.add(id)));
    const { db } = services;
    const { builds, deliveries } = db.tables;
    const isLeased = and(isNull(deliveries.status), gt(deliveries.enqueuedAt, clock.now()));
    await eventually("leases", async () => (await db.select().from(deliveries).where(isLeased)).length > 0);

    clock.advance(6 * secondMs);
    const requeued = await requeueStranded(services);
    await builder.idle();

    assert.equal(requeued, 0);
    assert.equal((await db.select().from(builds).where(eq(builds.pipelineId, pipeline.id))).length, 3);
  });
});
