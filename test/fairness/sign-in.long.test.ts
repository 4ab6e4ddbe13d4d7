import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { Redis } from "ioredis";
import { type Visitor, visitor } from "../../scripts/scratch/visitor.ts";
import { createPasswords } from "../../shared/crypto/passwords.ts";
import { sqlite } from "../helpers/databases.ts";
import { type Answer, eventually } from "../helpers/http.ts";
import { password, setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";

const attempts = 40;
const slots = 24;
/** One network may take these slots while nobody else signs in. */
const half = slots / 2;

describe("many wrong passwords at once", () => {
  let world: World;
  let acme: TestOrganization;
  let redis: Redis;
  let visitors: Visitor[];
  before(async () => {
    world = await startWorld(sqlite, { TRUSTED_PROXIES: "127.0.0.1" }, createPasswords); // of the usual cost
    acme = await setUpOrganization(world);
    redis = new Redis(process.env.TEST_REDIS_URL ?? "");
  });
  beforeEach(async () => {
    visitors = Array.from({ length: attempts }, () => visitor(world.url));
    await Promise.all(visitors.map(({ get }) => get("/sign-in")));
    for (const key of await redis.keys(`${world.config.redisPrefix}:window:*`)) await redis.del(key);
  });
  after(async () => {
    redis.disconnect();
    await world.close();
  });

  /** Adds the status of each answer when it comes. */
  const attack = (ipOf: (index: number) => string) => {
    const statuses: number[] = [];
    const answers = visitors.map(async ({ post }, index) => {
      const fields = { email: `${index}@example.com`, password: "wrong" };
      const answer = await post("/sign-in", fields, { "X-Forwarded-For": ipOf(index) });
      statuses.push(answer.status);
      return answer;
    });
    return { statuses, ended: Promise.all(answers) };
  };
  const knownCookieOf = ({ headers }: Answer): string =>
    headers
      .getSetCookie()
      .find((cookie) => cookie.startsWith("signalbox-known="))
      ?.split(";")[0] ?? "";
  const count = (statuses: number[], status: number) => statuses.filter((each) => each === status).length;
  const signIn = async (person: Visitor, ip: string, cookie?: string): Promise<Answer> =>
    person.post(
      "/sign-in",
      { email: acme.user.email, password },
      { "X-Forwarded-For": ip, ...(cookie && { cookie }) },
    );
  const failuresOf = (name: string, network: string) =>
    redis.hget(`${world.config.redisPrefix}:window:${name}:${network}`, "t").then(Number);

  const networks: [title: string, ipOf: (index: number) => string, wide: string][] = [
    ["an address", () => "192.0.2.1", "192.0.2.0/24"],
    ["the networks of an IPv6 /48", (index) => `2001:db8:0:${index}::1`, "2001:db8:0::/48"],
  ];
  for (const [title, ipOf, wide] of networks)
    it(`from ${title} are refused beyond half of the slots, and do not delay others`, async () => {
      const person = visitor(world.url);
      await person.get("/sign-in");
      const { statuses, ended } = attack(ipOf);
      await eventually("a refusal", async () => statuses.includes(429));

      const answer = await signIn(person, "198.51.100.7");

      assert.equal(answer.status, 303, answer.text);
      assert.ok(count(statuses, 422) < half, "the person did not wait for all the others");
      const answers = await ended;
      const checked = count(statuses, 422);
      assert.ok(checked >= half && checked < slots, `${checked} were checked`); // a late one finds a slot again
      assert.equal(count(statuses, 429), attempts - checked);
      for (const { status, headers } of answers)
        if (status === 429) assert.equal(headers.get("retry-after"), "5");
      // Each refusal was the caller's own fault, so it counts like a wrong password.
      assert.equal(await failuresOf("sign-in-wide", wide), attempts);
      assert.equal(await failuresOf("sign-in-wide", "198.51.100.0/24"), 0);
      assert.equal((await signIn(visitor(world.url), ipOf(0))).status, 303, "recovers");
    });

  it("with the cookie of an earlier sign-in are limited too", async () => {
    const person = visitor(world.url);
    await person.get("/sign-in");
    const known = knownCookieOf(await signIn(person, "198.51.100.9"));
    await person.get("/sign-in");
    const headers = { cookie: `${person.cookie}; ${known}`, "X-Forwarded-For": "203.0.113.1" };
    const fields = { email: acme.user.email, password: "wrong" };
    const statuses = [];
    for (let guess = 0; guess <= world.config.signInFailures; guess++)
      statuses.push((await person.post("/sign-in", fields, headers)).status);

    assert.deepEqual(statuses, [...Array(world.config.signInFailures).fill(422), 429]);
  });

  it("from everywhere get 503 when all slots are taken, and those do not count", async () => {
    const { statuses, ended } = attack((index) => `10.0.${index}.1`);
    const answers = await ended;

    const checked = count(statuses, 422);
    assert.ok(checked >= slots && checked < attempts, `${checked} were checked`);
    assert.equal(count(statuses, 503), attempts - checked);
    for (const [index, { status, headers }] of answers.entries()) {
      if (status === 503) assert.equal(headers.get("retry-after"), "5");
      assert.equal(await failuresOf("sign-in-ip", `10.0.${index}.1`), status === 422 ? 1 : 0);
    }
    assert.equal((await signIn(visitor(world.url), "198.51.100.7")).status, 303, "recovers");
  });
});

describe("wrong passwords of a wide network, one after the other", () => {
  it("are 429 after three times the limit of an address", async () => {
    const world = await startWorld(sqlite, { TRUSTED_PROXIES: "127.0.0.1", SIGN_IN_FAILURES_PER_IP: "1" });
    const guess = async (ip: string) => {
      const fields = { email: "ada@example.com", password: "wrong" };
      return (await visitor(world.url).post("/sign-in", fields, { "X-Forwarded-For": ip })).status;
    };

    for (const site of ["192.0.2.", "2001:db8:1:"]) {
      const statuses: number[] = [];
      for (let n = 1; n <= 4; n++)
        statuses.push(await guess(site.includes(":") ? `${site}${n}::1` : site + n));
      assert.deepEqual(statuses, [422, 422, 422, 429], site);
    }
    assert.equal(await guess("198.51.100.1"), 422);
    await world.close();
  });
});
