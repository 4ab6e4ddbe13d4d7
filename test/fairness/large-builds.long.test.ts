import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { updatePipeline } from "../../shared/pipelines/pipelines.ts";
import type { Pipeline } from "../../shared/pipelines/store.ts";
import { type DeliveryBuilder, openDeliveryBuilder } from "../../shared/triggers/deliveries/build.ts";
import { sqlite } from "../helpers/databases.ts";
import { post } from "../helpers/http.ts";
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
});
