import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openTcpProxy, type TcpProxy } from "../../scripts/prove/tcp-proxy.ts";
import { visitor } from "../../scripts/scratch/visitor.ts";
import { countBuilds } from "../helpers/builds.ts";
import { sqlite } from "../helpers/databases.ts";
import { eventually, get, post, request } from "../helpers/http.ts";
import { startLoad } from "../helpers/load.ts";
import { setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { redisServerMissing, startRedis } from "../helpers/processes.ts";
import { startWorld, type World } from "../helpers/world.ts";
import { readMetric } from "../process/metrics/read.ts";

describe("while Redis is unavailable", { skip: redisServerMissing }, () => {
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let world: World;
  let acme: TestOrganization;

  before(async () => {
    redis = await startRedis();
    world = await startWorld(sqlite, { REDIS_URL: redis.url });
    acme = await setUpOrganization(world);
    await world.startWorkers();
  });
  after(async () => {
    await world.close();
    await redis.close();
  });

  const configure = (name: string, value: string) => redis.command("config", "set", name, value);

  const isDegraded = async () => {
    const { status, body } = await request(`${world.url}/readyz`);
    return status === 200 && body.status === "degraded";
  };

  // Without an answer: longer than every time-out and retry.
  for (const [how, state, said, awayMs, away, back] of [
    ["stopped", "unavailable", /Redis cannot be reached/, 10_000, () => redis.stop(), () => redis.start()],
    [
      "frozen",
      "unavailable",
      /Redis cannot be reached/,
      10_000,
      async () => void redis.freeze(),
      async () => void redis.thaw(),
    ],
    [
      "full",
      "full",
      /Redis is full/,
      2000,
      () => configure("maxmemory", "1"),
      () => configure("maxmemory", "0"),
    ],
    [
      "a replica",
      "read-only",
      /as a replica does/,
      2000,
      () => redis.command("replicaof", "127.0.0.1", "1"),
      () => redis.command("replicaof", "no", "one"),
    ],
  ] as const) {
    it(`answers webhooks 201, and their builds follow: ${how}`, async () => {
      const { path } = await acme.trigger();
      const before = await countBuilds(world);
      const load = startLoad([world.url + path], { most: Number.POSITIVE_INFINITY, pauseMs: 100 });
      await eventually("some builds", async () => (await countBuilds(world)) > before + 20);

      await away();
      await eventually("the degraded state", isDegraded);
      const whenAway = load.accepted.length;
      await sleep(awayMs);
      await eventually("its state", async () => {
        const { body } = await request(`${world.url}/readyz`);
        return body.parts.redis === state && world.logged.some((line) => said.test(line));
      });
      await eventually("200 deliveries without Redis", async () => load.accepted.length > whenAway + 200);
      await load.stop();
      await eventually(
        "all builds",
        async () => (await countBuilds(world)) === before + load.accepted.length,
      );
      await back();

      assert.deepEqual(load.others, []);
      assert.equal(load.broken, 0);
      await eventually("the usual state", async () => !(await isDegraded()));
    });
  }

  it("counts rate limits in this process", async () => {
    const small = await setUpOrganization(world, "small", 20);
    const { path } = await small.trigger();
    await redis.stop();
    const answers = await Promise.all(Array.from({ length: 30 }, () => post(world.url + path, "{}")));
    const metric = await world.services.metrics.registry.getSingleMetricAsString(
      "signalbox_limits_from_memory_total",
    );
    await redis.start();

    assert.equal(answers.filter((answer) => answer.status === 201).length, 20);
    assert.equal(answers.filter((answer) => answer.status === 429).length, 10);
    assert.match(metric, /signalbox_limits_from_memory_total\{.+\} \d\d/);
  });

  it("says on pages and in the log that it is away, and that it is back", async () => {
    const ada = visitor(world.url);
    await ada.signIn(acme.user.email);
    const outage = "Redis is away. Webhooks are stored";
    const isSaid = async () => (await ada.get("/user/password")).text.includes(outage);
    const isLogged = (text: string) => world.logged.some((line) => line.includes(text));
    await eventually("pages without an outage", async () => !(await isSaid()));
    world.logged.length = 0;

    await redis.stop();
    await eventually("the outage on pages", isSaid);
    const { body } = await request(`${world.url}/readyz`);
    const signedOut = await request(`${world.url}/sign-in`);
    await redis.start();

    assert.match(body.message, /Redis cannot be reached: start it, or check REDIS_URL/);
    assert.ok(!signedOut.text.includes(outage));
    await eventually("the first log line", async () => isLogged("Redis cannot be reached"));
    await eventually("the log line", async () => isLogged("Redis is well again"));
    await eventually("pages without an outage", async () => !(await isSaid()));
  });

  it("notices that Redis has lost its data", async () => {
    const lost = () => readMetric(world.services, "redis_data_lost_total");
    const before = (await lost()) ?? 0;
    await eventually("the loss", async () => {
      await redis.command("flushall");
      await sleep(500);
      return ((await lost()) ?? 0) >= before + 2; // an earlier restart may be one
    });
    await eventually("the log line", async () =>
      world.logged.some((line) => line.includes("Redis has lost its data")),
    );
  });

  it("answers API requests", async () => {
    const token = await acme.token("read_builds");
    await redis.stop();
    const { status, headers } = await get(`${world.url}/v2/organizations/acme/builds`, token);
    await redis.start();
    assert.deepEqual([status, headers.get("ratelimit-remaining")], [200, "199"]);
  });

  it("reports and logs a Redis that may evict keys as degraded", async () => {
    await redis.command("config", "set", "maxmemory-policy", "allkeys-lru");
    const { body } = await eventually("the state", async () => {
      const answer = await request(`${world.url}/readyz`);
      return answer.body.parts.redis !== "unavailable" && answer;
    });
    const another = await world.another();
    await request(`${another.url}/healthz`);
    // A process that has looked before says so, too.
    await eventually(
      "the changed state",
      async () => world.services.redisState() === "wrong-eviction-policy",
    );
    await redis.command("config", "set", "maxmemory-policy", "noeviction");

    assert.deepEqual([body.status, body.parts.redis], ["degraded", "wrong-eviction-policy"]);
    await eventually("the log line", async () =>
      world.logged.some((line) => line.includes("may evict keys")),
    );
  });
});

describe("while connections to Redis are silent", { skip: redisServerMissing }, () => {
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let proxy: TcpProxy;
  let world: World;
  let acme: TestOrganization;

  before(async () => {
    redis = await startRedis();
    proxy = await openTcpProxy({ host: "127.0.0.1", port: Number(new URL(redis.url).port) });
    world = await startWorld(sqlite, { REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
    acme = await setUpOrganization(world);
    await world.startWorkers();
  });
  after(async () => {
    await world.close();
    await proxy.close();
    await redis.close();
  });

  it("replaces them, and builds all that was accepted", async () => {
    const { path } = await acme.trigger();
    const before = await post(world.url + path, "{}");
    await eventually("a build", async () => (await countBuilds(world)) === 1);

    proxy.silence();
    const without = await post(world.url + path, "{}");
    await eventually("new connections", async () => {
      const { body } = await request(`${world.url}/readyz`);
      return body.parts.redis === "ok";
    });
    await sleep(25_000); // a worker waits for a job on a silent connection this long
    const after = await post(world.url + path, "{}");

    assert.deepEqual([before.status, without.status, after.status], [201, 201, 201]);
    await eventually("all builds", async () => (await countBuilds(world)) === 3);
  });
});
