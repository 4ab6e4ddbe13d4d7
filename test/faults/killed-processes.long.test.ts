import assert from "node:assert/strict";
import { it } from "node:test";
import { allBuilds, countBuilds } from "../helpers/builds.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { startLoad } from "../helpers/load.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { redisServerMissing, runIngress, runWorker, startRedis } from "../helpers/processes.ts";
import { settingsOf, startWorld, type World } from "../helpers/world.ts";

/** Expects one build per accepted delivery and no other build. */
async function assertBuiltOnce(world: World, accepted: string[]): Promise<void> {
  await eventually(`${accepted.length} builds`, async () => (await countBuilds(world)) >= accepted.length);
  const builtIds = (await allBuilds(world)).map((build) => build.deliveryId);
  assert.equal(new Set(builtIds).size, builtIds.length);
  const missing = accepted.filter((id) => !builtIds.includes(id));
  assert.deepEqual(missing, []);
}

describeOnBothDatabases("every 201 has exactly one build", (database) => {
  it("after a worker is killed and Redis is flushed", {
    skip: redisServerMissing,
  }, async () => {
    const redis = await startRedis();
    const world = await startWorld(database, { REDIS_URL: redis.url });
    const { path } = await (await setUpOrganization(world)).trigger();
    const settings = settingsOf(world);
    let worker = await runWorker(settings);

    const load = startLoad([world.url + path], { senders: 20, most: 1500, pauseMs: 20 });
    await eventually("some builds", async () => (await countBuilds(world)) > 50);
    await worker.kill("SIGKILL");
    await eventually("a backlog", async () => load.accepted.length > (await countBuilds(world)) + 50);
    worker = await runWorker(settings);
    await redis.command("flushall");
    await load.stop();

    assert.deepEqual(load.others, []);
    await assertBuiltOnce(world, load.accepted);
    await worker.kill("SIGTERM");
    await world.close();
    await redis.close();
  });

  it("after the ingress is killed behind the commit", async () => {
    const world = await startWorld(database);
    const { path } = await (await setUpOrganization(world)).trigger();
    const ingress = await runIngress(settingsOf(world));

    const load = startLoad([ingress.url + path], { senders: 20, most: 1500 });
    await eventually("some deliveries", async () => load.accepted.length > 100);
    await ingress.kill("SIGKILL");
    await load.stop();
    world.clock.advance(11_000);
    await world.startWorkers();

    assert.ok(load.broken > 0);
    await assertBuiltOnce(world, load.accepted);
    await world.close();
  });
});
