import assert from "node:assert/strict";
import { it } from "node:test";
import { Redis } from "ioredis";
import { visitor } from "../../../../scripts/scratch/visitor.ts";
import { describeWorldOn, sqlite, withSettings } from "../../../helpers/databases.ts";
import { password } from "../../../helpers/organization.ts";
import { startPages } from "../../../helpers/pages.ts";

const settings = {
  SIGN_IN_FAILURES: "2",
  SIGN_IN_FAILURES_PER_IP: "3",
  TRUSTED_PROXIES: "127.0.0.1",
};

describeWorldOn(sqlite, "POST /sign-in, wrong passwords", withSettings(startPages, settings), (pages) => {
  const signIn = (email: string, given: string, ip: string) =>
    visitor(pages.url).post("/sign-in", { email, password: given }, { "X-Forwarded-For": ip });
  const guess = async (email: string, ip: string) => (await signIn(email, "wrong", ip)).status;

  it("refuse every password of the user after the limit, and say how long", async () => {
    const { email } = pages.bob;
    const ip = "192.0.2.9";
    assert.equal(await guess(email, ip), 422);
    assert.equal((await signIn(email, password, ip)).status, 303, "which does not reset the count");
    assert.equal(await guess(email, ip), 422);

    const refused = await signIn(email, password, ip);

    assert.equal(refused.status, 429);
    const seconds = Number(refused.headers.get("retry-after"));
    assert.ok(seconds > 0 && seconds <= 610, String(seconds));
    assert.match(refused.text, new RegExp(`Please wait ${seconds} seconds`));
    assert.equal((await signIn(pages.ada.email, password, ip)).status, 303);
  });

  it("create no rate-limit keys in Redis for guesses above the limit", async () => {
    const redis = new Redis(process.env.TEST_REDIS_URL ?? "");
    const keys = () => redis.keys(`${pages.config.redisPrefix}:window:sign-in:*`);
    const before = (await keys()).length;
    const answers: number[] = [];

    for (let i = 0; i < 6; i++) answers.push(await guess(`${i}@example.com`, "192.0.2.1"));

    assert.deepEqual(answers, [422, 422, 422, 429, 429, 429]);
    assert.equal((await keys()).length, before + 3);
    redis.disconnect();
  });

  it("of the addresses of an IPv6 network are counted together", async () => {
    const answers: number[] = [];

    for (let i = 0; i < 4; i++) answers.push(await guess("nobody@example.com", `2001:db8:1:2:${i}::1`));

    assert.deepEqual(answers, [422, 422, 429, 429]);
  });
});
