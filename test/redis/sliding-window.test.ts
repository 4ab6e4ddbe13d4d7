import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { Redis } from "ioredis";
import { createBreaker } from "../../shared/redis/breaker.ts";
import { redisKeys } from "../../shared/redis/keys.ts";
import { memoryRateLimiter } from "../../shared/redis/memory-rate-limiter.ts";
import { createRateLimiter, type RateLimiter } from "../../shared/redis/rate-limiter.ts";
import { createLog } from "../../shared/services/log.ts";
import { repeat } from "../helpers/run-mode.ts";

const log = createLog({ level: "silent", process: "test" }, { write: () => {} });
const windowMs = 60_000;

function clockAt(start: number) {
  let now = start;
  return { now: () => new Date(now), advance: (ms: number) => (now += ms) };
}

describe("a sliding window in memory", () => {
  const steps = fc.array(
    fc.record({ wait: fc.integer({ min: 0, max: 30_000 }), takes: fc.integer({ min: 1, max: 6 }) }),
    {
      minLength: 1,
      maxLength: 60,
    },
  );

  it("admits at most the limit per window, and always the limit per window and a 60th", async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 10 }), async (sequence, limit) => {
        const clock = clockAt(1_700_000_000_000);
        const windows = memoryRateLimiter(clock);
        const admittedAt: number[] = [];
        for (const { wait, takes } of sequence) {
          clock.advance(wait);
          const now = clock.now().getTime();
          for (let take = 0; take < takes; take++) {
            const state = await windows.admit({ name: "w", subject: "s", limit, windowMs });
            const within = (ms: number) => admittedAt.filter((at) => at > now - ms).length;
            if (state.admitted) {
              assert.ok(within(windowMs) < limit);
              admittedAt.push(now);
            } else assert.ok(within(windowMs + windowMs / 60) >= limit);
          }
        }
      }),
      { numRuns: repeat(20, 100) },
    );
  });

  it("has room exactly at the reset time of a refusal", async () => {
    const clock = clockAt(1_700_000_012_345);
    const windows = memoryRateLimiter(clock);
    const take = () => windows.admit({ name: "w", subject: "s", limit: 2, windowMs });
    await take();
    clock.advance(7_000);
    await take();

    const refused = await take();
    assert.deepEqual([refused.admitted, refused.remaining], [false, 0]);
    clock.advance(refused.resetMs - 1);
    assert.equal((await take()).admitted, false);
    clock.advance(1);
    assert.equal((await take()).admitted, true);
  });

  it("can be peeked at without taking a slot", async () => {
    const windows = memoryRateLimiter(clockAt(1_700_000_000_000));
    const window = { name: "w", subject: "s", limit: 2, windowMs };
    assert.equal((await windows.peek(window)).remaining, 2);
    await windows.admit(window);
    for (let look = 0; look < 3; look++) assert.equal((await windows.peek(window)).remaining, 1);
    await windows.admit(window);
    const { admitted, remaining } = await windows.peek(window);
    assert.deepEqual([admitted, remaining], [false, 0]);
  });

  it("takes a slot of each of several windows, or of none", async () => {
    const windows = memoryRateLimiter(clockAt(1_700_000_000_000));
    const wide = { name: "w", subject: "s", limit: 5, windowMs };
    const narrow = { name: "n", subject: "s", limit: 2, windowMs };
    const states = [];
    for (let call = 0; call < 3; call++) states.push(await windows.admit(wide, narrow));

    assert.deepEqual(
      states.map(({ admitted, limit, remaining }) => [admitted, limit, remaining]),
      [
        [true, 2, 1],
        [true, 2, 0],
        [false, 2, 0],
      ],
    );
    assert.equal((await windows.peek(wide)).remaining, 3);
  });

  it("stays right when the clock is set back", async () => {
    const clock = clockAt(1_700_000_000_000);
    const windows = memoryRateLimiter(clock);
    const take = () => windows.admit({ name: "w", subject: "s", limit: 1, windowMs });
    assert.equal((await take()).admitted, true);
    clock.advance(-3_600_000);
    assert.equal((await take()).admitted, false);
  });
});

const url = process.env.TEST_REDIS_URL;
const skip = url ? false : (process.env.TEST_REDIS_MISSING ?? "TEST_REDIS_URL is not set");

describe("a sliding window in Redis", { skip }, () => {
  let redis: Redis;
  let windows: RateLimiter;
  let fallbacks = 0;
  const prefix = `test-${randomUUID()}`;

  before(async () => {
    redis = new Redis(url ?? "");
    const keys = redisKeys(prefix);
    windows = createRateLimiter({
      redis,
      keys,
      breaker: createBreaker({ redis, keys, log, onOpen: () => {} }),
      fallback: memoryRateLimiter({ now: () => new Date() }),
      onFallback: () => fallbacks++,
    });
    await redis.ping();
  });
  after(() => redis.quit());

  const window = (limit: number, ms = windowMs) => ({
    name: "w",
    subject: randomUUID(),
    limit,
    windowMs: ms,
  });

  it("admits exactly the limit of simultaneous callers", async () => {
    const one = window(300);
    const states = await Promise.all(Array.from({ length: 1000 }, () => windows.admit(one)));

    assert.equal(states.filter((state) => state.admitted).length, 300);
    assert.deepEqual(
      states.filter((state) => state.admitted).map((state) => state.remaining),
      Array.from({ length: 300 }, (_, at) => 299 - at),
    );
    assert.equal(fallbacks, 0);
  });

  it("admits again at the reset time of a refusal", async () => {
    const short = window(2, 600);

    let refused = await windows.admit(short);
    while (refused.admitted) refused = await windows.admit(short);
    assert.ok(refused.resetMs > 0 && refused.resetMs <= 610);
    await redis.call("CLIENT", "PAUSE", "0");
    const deadline = performance.now() + refused.resetMs + 50;
    let admitted = 0;
    // Forces one try after the reset, even if the last was slow.
    for (let begun = 0; admitted === 0 && begun < deadline; ) {
      begun = performance.now();
      admitted += Number((await windows.admit(short)).admitted);
    }
    assert.equal(admitted, 1);
  });

  it("gives a slot back", async () => {
    const one = window(1);
    await windows.admit(one);
    assert.equal((await windows.admit(one)).admitted, false);
    await windows.giveBack(one);
    assert.equal((await windows.admit(one)).admitted, true);
    assert.equal((await windows.admit(one)).admitted, false);
  });

  it("takes a slot of each of several windows, or of none", async () => {
    const [wide, narrow] = [window(5), window(2)] as const;
    const states = await Promise.all([1, 2, 3].map(() => windows.admit(wide, narrow)));

    assert.deepEqual(
      states.map(({ admitted, limit, remaining }) => [admitted, limit, remaining]),
      [
        [true, 2, 1],
        [true, 2, 0],
        [false, 2, 0],
      ],
    );
    assert.equal((await windows.peek(wide)).remaining, 3);
  });

  it("opens no window for a caller that another window refuses", async () => {
    const [full, unknown] = [window(1), window(5)] as const;
    await windows.admit(full);

    const refused = await windows.admit(full, unknown);
    assert.deepEqual([refused.admitted, refused.limit], [false, 1]);
    assert.equal(await redis.exists(redisKeys(prefix).window(unknown.name, unknown.subject)), 0);
  });

  it("never counts below zero when too many slots are given back", async () => {
    const one = window(1);
    for (let times = 0; times < 5; times++) await windows.giveBack(one);
    assert.equal((await windows.admit(one)).admitted, true);
    assert.equal((await windows.admit(one)).admitted, false);
  });

  it("uses little memory at any limit, and expires", async () => {
    const huge = window(1_000_000, 120_000);
    await Promise.all(Array.from({ length: 5000 }, () => windows.admit(huge)));

    const key = redisKeys(prefix).window(huge.name, huge.subject);
    assert.ok(Number(await redis.call("MEMORY", "USAGE", key)) < 1500);
    const ttl = await redis.pttl(key);
    assert.ok(ttl > 120_000 && ttl <= 62 * 2000);
  });

  it("writes nothing when it refuses", async () => {
    const one = window(1, 60_000 * 60);
    await windows.admit(one);
    const key = redisKeys(prefix).window(one.name, one.subject);
    const before = await redis.dump(key);
    await windows.admit(one);
    assert.equal(await redis.dump(key), before);
  });
});
