import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { buildWebhook } from "../helpers/builds.ts";
import { sqlite } from "../helpers/databases.ts";
import { eventually, request } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { redisServerMissing, startRedis } from "../helpers/processes.ts";
import { startWorld, type World } from "../helpers/world.ts";
import { runOperator } from "../scripts/operator.ts";

const listed = /^ACL SETUSER signalbox (.*)$/m.exec(
  readFileSync("scripts/deploy/PRODUCTION.md", "utf8"),
)?.[1];

async function doctor(world: World): Promise<string> {
  const env = { PORT: new URL(world.url).port };
  const { stdout, stderr } = await runOperator(world, ["doctor"], { env });
  return stdout + stderr;
}

describe("a Redis whose user has few rights", { skip: redisServerMissing }, () => {
  let redis: Awaited<ReturnType<typeof startRedis>>;
  const allow = (...more: string[]) =>
    redis.command("acl", "setuser", "signalbox", "reset", ...(listed ?? "").split(" "), ...more);
  const urlOf = (user = "signalbox", password = "PASSWORD", path = "") =>
    `${redis.url.replace("redis://", `redis://${user}:${password}@`)}${path}`;
  const startOn = (url: string) => startWorld(sqlite, { REDIS_URL: url, REDIS_PREFIX: "signalbox" });
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.close());

  const buildOne = async (world: World) => {
    await world.startWorkers();
    const { path } = await (await setUpOrganization(world)).trigger();
    await buildWebhook(world, path);
  };

  it("does all work with the rights that PRODUCTION.md lists", async () => {
    await allow();
    await redis.command("acl", "log", "reset");
    const world = await startOn(urlOf());

    await buildOne(world);
    const unsubscribe = world.services.events.subscribe(["user:x"], () => {});
    world.services.processes.report("ingress");
    await eventually("the report", async () => (await world.services.processes.list())?.length === 1);
    const { body } = await request(`${world.url}/readyz`);
    const said = await doctor(world);
    unsubscribe();
    await world.close();

    assert.deepEqual([body.status, body.parts.redis], ["ok", "ok"]);
    assert.match(said, /"check": "Redis",\n\s+"state": "ok"/);
    assert.deepEqual(await redis.command("acl", "log"), []);
  });

  it("is well without INFO, and says so to operators", async () => {
    await allow("-info");
    const world = await startOn(urlOf());

    await buildOne(world);
    const { body } = await request(`${world.url}/readyz`);
    const said = await doctor(world);
    await world.close();

    assert.equal(body.status, "ok");
    assert.match(said, /its INFO is forbidden/);
  });

  const wrong = [
    { name: "EVAL", rights: ["-eval", "-evalsha"], state: "forbidden", message: /\+eval \+evalsha/ },
    { name: "a channel", rights: ["resetchannels"], state: "forbidden", message: /&signalbox:events/ },
    { name: "SUBSCRIBE", rights: ["-subscribe"], state: "forbidden", message: /\+subscribe/ },
    { name: "its keys", rights: ["resetkeys", "~other:*"], state: "forbidden", message: /~signalbox:\*/ },
    { name: "BZPOPMIN", rights: ["-bzpopmin"], state: "forbidden", message: /\+bzpopmin/ },
    { name: "its password", password: "wrong", state: "wrong-password", message: /user or the password/ },
    { name: "its database", path: "/99", state: "wrong-database", message: /number in REDIS_URL/ },
  ];
  for (const { name, rights = [], password, path, state, message } of wrong)
    it(`is named at /readyz and by doctor without ${name}`, async () => {
      await allow(...rights);
      const world = await startOn(urlOf("signalbox", password, path));

      const { status, body } = await eventually("the state", async () => {
        const answer = await request(`${world.url}/readyz`);
        return answer.body.parts.redis === state && answer;
      });
      const said = await doctor(world);
      const isLogged = await eventually("the log", async () =>
        world.logged.some((line) => message.test(line)),
      );
      const isMisnamed = world.logged.some((line) => /cannot be reached|does not answer/.test(line));
      await world.close();

      assert.equal(isMisnamed, false);
      assert.deepEqual([status, body.status, isLogged], [200, "degraded", true]);
      assert.match(body.message, message);
      assert.match(said, message);
      assert.match(said, /NOPERM|ACL failure|WRONGPASS|out of range/);
    });
});
