import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { Redis } from "ioredis";
import { createBreaker } from "../../shared/redis/breaker.ts";
import { redisKeys } from "../../shared/redis/keys.ts";
import { createPacing, memoryPacing, type Pacing } from "../../shared/redis/pacing.ts";
import { createLog } from "../../shared/services/log.ts";

const url = process.env.TEST_REDIS_URL;
const log = createLog({ level: "silent", process: "test" }, { write: () => {} });
const start = 1_700_000_000_000;

function behaves(open: () => Pacing): void {
  const at = (pacing: Pacing, subject: string, seconds: number) =>
    pacing.isTooSoon({
      subject,
      now: new Date(start + seconds * 1000),
      intervalMs: 5000,
      lifetimeMs: 60_000,
    });

  it("accepts the first poll and polls that keep the interval", async () => {
    const pacing = open();
    for (const seconds of [0, 5, 9.6, 15]) assert.equal(await at(pacing, "kept", seconds), false);
  });

  it("adds 5 seconds for each poll that comes too soon", async () => {
    const pacing = open();
    assert.equal(await at(pacing, "early", 0), false);
    assert.equal(await at(pacing, "early", 1), true);
    assert.equal(await at(pacing, "early", 9), true);
    assert.equal(await at(pacing, "early", 24), false);
  });

  it("counts polls of one batch separately by subject", async () => {
    const pacing = open();
    const subjects = Array.from({ length: 250 }, (_, index) => `many-${index % 125}`);

    const answers = await Promise.all(subjects.map((subject) => at(pacing, subject, 0)));

    assert.deepEqual(
      answers,
      subjects.map((_, index) => index >= 125),
    );
  });
}

describe("pacing in memory", () => {
  behaves(memoryPacing);
});

describe("pacing in Redis", { skip: url ? false : "no Redis to test with" }, () => {
  const keys = redisKeys(`test-${randomUUID()}`);
  let redis: Redis;

  before(async () => {
    redis = new Redis(url as string, { lazyConnect: true });
    await redis.connect();
  });
  after(async () => {
    const left = await redis.keys(keys.pacing("*"));
    if (left.length > 0) await redis.del(left);
    redis.disconnect();
  });

  behaves(() =>
    createPacing({ redis, keys, breaker: createBreaker({ redis, keys, log, onOpen: () => {} }) }),
  );
});
