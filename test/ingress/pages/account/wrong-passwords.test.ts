import assert from "node:assert/strict";
import { it } from "node:test";
import { Redis } from "ioredis";
import { visitor } from "../../../../scripts/scratch/visitor.ts";
import { describeWorldOn, sqlite, withSettings } from "../../../helpers/databases.ts";
import { startWorld } from "../../../helpers/world.ts";

const settings = {
  SIGN_IN_FAILURES: "2",
  SIGN_IN_FAILURES_PER_IP: "3",
  TRUSTED_PROXIES: "127.0.0.1",
};

describeWorldOn(sqlite, "POST /sign-in, wrong passwords", withSettings(startWorld, settings), (world) => {
  const guess = async (email: string, ip: string) => {
    const headers = { "X-Forwarded-For": ip };
    return (await visitor(world.url).post("/sign-in", { email, password: "wrong" }, headers)).status;
  };

  it("creates no rate-limit keys in Redis for guesses above the limit", async () => {
    const redis = new Redis(process.env.TEST_REDIS_URL ?? "");
    const answers: number[] = [];

    for (let i = 0; i < 6; i++) answers.push(await guess(`${i}@example.com`, "192.0.2.1"));

    assert.deepEqual(answers, [422, 422, 422, 429, 429, 429]);
    assert.equal((await redis.keys(`${world.config.redisPrefix}:window:sign-in:*`)).length, 3);
    redis.disconnect();
  });

  it("counts the addresses of an IPv6 network together", async () => {
    const answers: number[] = [];

    for (let i = 0; i < 4; i++) answers.push(await guess("ada@example.com", `2001:db8:1:2:${i}::1`));

    assert.deepEqual(answers, [422, 422, 429, 429]);
  });
});
