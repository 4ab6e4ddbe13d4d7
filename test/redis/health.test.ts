import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { it } from "node:test";
import { connectFast, waitUntilReady } from "../../shared/redis/connect.ts";
import { checkRedis } from "../../shared/redis/health.ts";
import { redisKeys } from "../../shared/redis/keys.ts";

it("several checks of Redis at once, on one connection and on others, find it well", async () => {
  const keys = redisKeys(`health-${randomUUID()}`);
  const connections = Array.from({ length: 4 }, () => connectFast(process.env.TEST_REDIS_URL ?? ""));
  const [redis, subscriber, other, subscriberOfOther] = connections;
  assert.ok(redis && subscriber && other && subscriberOfOther);
  await Promise.all(connections.map((each) => waitUntilReady(each, 2000)));

  const states = await Promise.all([
    ...Array.from({ length: 10 }, () => checkRedis(redis, keys, subscriber)),
    ...Array.from({ length: 10 }, () => checkRedis(other, keys, subscriberOfOther)),
  ]);
  for (const each of connections) each.disconnect();

  assert.deepEqual(new Set(states.map(({ state, cause }) => cause ?? state)), new Set(["ok"]));
});
