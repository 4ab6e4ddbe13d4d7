import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { freePort } from "../../scripts/scratch/ports.ts";
import { connectFast, waitUntilReady } from "../../shared/redis/connect.ts";
import { checkRedis } from "../../shared/redis/health.ts";
import { redisKeys } from "../../shared/redis/keys.ts";
import type { RedisState } from "../../shared/redis/problems.ts";
import { countBuilds } from "../helpers/builds.ts";
import { sqlite } from "../helpers/databases.ts";
import { eventually, post, request } from "../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { redisServerMissing, startRedis } from "../helpers/processes.ts";
import { startWorld, type World } from "../helpers/world.ts";
import { startSentinels } from "./sentinels.ts";

async function stateAt(url: string): Promise<RedisState> {
  const redis = connectFast(url);
  await waitUntilReady(redis, 10_000);
  const { state } = await checkRedis(redis, redisKeys("test"));
  redis.disconnect();
  return state;
}

describe("a Redis with sentinels", { skip: redisServerMissing }, () => {
  let redis: Awaited<ReturnType<typeof startSentinels>>;
  let world: World;
  let acme: TestOrganization;

  before(async () => {
    redis = await startSentinels();
    world = await startWorld(sqlite, { REDIS_URL: redis.url });
    acme = await setUpOrganization(world);
    await world.startWorkers();
  });
  after(async () => {
    await world?.close();
    await redis?.close();
  });

  it("is used by its master's name, and after a failover its new master", async () => {
    const { path } = await acme.trigger();
    await post(world.url + path, "{}");
    await eventually("a build", async () => (await countBuilds(world)) === 1);
    const master = (await redis.findMaster()) ?? assert.fail("no master");

    await master.stop();
    const without = await post(world.url + path, "{}");
    await eventually("a new master", async () => redis.findMaster());
    await eventually("the new master's answer", async () => {
      const { body } = await request(`${world.url}/readyz`);
      return body.parts.redis === "ok";
    });
    const afterwards = await post(world.url + path, "{}");
    world.clock.advance(20_000); // the job of the second delivery may be lost

    assert.deepEqual([without.status, afterwards.status], [201, 201]);
    await eventually("all builds", async () => (await countBuilds(world)) === 3);
  });

  it("is not used by the address of a sentinel, nor is a node of a cluster", async () => {
    const node = await startRedis("--cluster-enabled", "yes", "--cluster-port", String(await freePort()));

    const states = [await stateAt(`redis://${redis.sentinel}`), await stateAt(node.url)];

    await node.close();
    assert.deepEqual(states, ["wrong-mode", "wrong-mode"]);
  });
});
