import assert from "node:assert/strict";
import { describe, it } from "node:test";
import Sqlite from "better-sqlite3";
import { Client } from "pg";
import { allBuilds } from "../helpers/builds.ts";
import { postgres, sqlite } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { startLoad } from "../helpers/load.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { runIngress } from "../helpers/processes.ts";
import { settingsOf, startWorld, type World } from "../helpers/world.ts";

/** Expects one payload per delivery, and only accepted deliveries. */
async function assertWholeAndKnown(world: World, accepted: string[]): Promise<void> {
  const { db } = world.services;
  const deliveries = (await db.select().from(db.tables.deliveries)).map((row) => row.id);
  const payloads = (await db.select().from(db.tables.payloads)).map((row) => row.deliveryId);
  assert.deepEqual(deliveries.sort(), accepted.sort());
  assert.deepEqual(payloads.sort(), accepted.sort());
}

describe("a SQLite database locked by another process", () => {
  it("answers 503 with Retry-After and writes nothing; a short lock delays the answer", async () => {
    const world = await startWorld(sqlite, { DATABASE_TIMEOUT_MS: "3000" });
    const { path } = await (await setUpOrganization(world)).trigger();
    const first = await post(world.url + path, "{}");
    const remaining = (answer: typeof first) => Number(answer.headers.get("ratelimit-remaining"));
    const locker = new Sqlite(world.config.databaseUrl.slice("file:".length));

    locker.exec("BEGIN IMMEDIATE");
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(world.url + path, "{}")));
    const waiting = post(world.url + path, "{}");
    await post(`${world.url}/deliver/x`, "{}"); // the request above waits by now
    locker.exec("COMMIT");
    const waited = await waiting;
    locker.close();

    for (const { status, body, headers } of answers) {
      assert.equal(status, 503);
      assert.match(body.message, /temporarily unavailable/);
      assert.equal(headers.get("retry-after"), "5");
    }
    assert.equal(waited.status, 201);
    const next = await post(world.url + path, "{}");
    assert.equal(remaining(first) - remaining(next), 2, "what we could not keep costs nothing");
    await assertWholeAndKnown(world, [first.body.id, waited.body.id, next.body.id]);
    assert.ok(!world.logged.some((line) => line.includes("unexpected error")));
    await world.close();
  });
});

describe("a full disk", () => {
  it("answers 503, writes nothing, and keeps accepted deliveries", async () => {
    const world = await startWorld(sqlite);
    const { path } = await (await setUpOrganization(world)).trigger();
    // SQLite sees a full disk at 3 MB.
    const ingress = await runIngress(settingsOf(world), "-f 6144");
    const payload = JSON.stringify("x".repeat(200_000));

    const accepted: string[] = [];
    const refused = await eventually("a 503", async () => {
      const answer = await post(ingress.url + path, payload);
      if (answer.status === 201) accepted.push(answer.body.id);
      return answer.status !== 201 && answer;
    });
    await ingress.kill("SIGTERM");

    assert.equal(refused.status, 503, refused.text);
    assert.ok(accepted.length > 3);
    await assertWholeAndKnown(world, accepted);
    await world.close();
  });
});

const skip = process.env.TEST_DATABASE_URL ? false : (process.env.TEST_DATABASE_MISSING ?? "no Postgres");

describe("Postgres that drops its connections", { skip }, () => {
  it("fails at most the requests in flight, and ends no process", async () => {
    const world = await startWorld(postgres);
    const { path } = await (await setUpOrganization(world)).trigger();
    await world.startWorkers();
    const load = startLoad([world.url + path], { most: Number.POSITIVE_INFINITY, pauseMs: 5 });
    await eventually("some deliveries", async () => load.accepted.length > 100);

    const admin = new Client({ connectionString: process.env.TEST_DATABASE_URL });
    await admin.connect();
    const name = new URL(world.config.databaseUrl).pathname.slice(1);
    for (let times = 0; times < 5; times++) {
      await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
      const soFar = load.accepted.length;
      await eventually("more deliveries", async () => load.accepted.length > soFar + 20);
    }
    await load.stop();
    await admin.end();

    assert.ok(
      load.others.every((status) => status === 503),
      String(new Set(load.others)),
    );
    assert.equal(load.broken, 0);
    world.clock.advance(11_000);
    await eventually("all builds", async () => {
      const built = new Set((await allBuilds(world)).map((build) => build.deliveryId));
      return load.accepted.every((id) => built.has(id));
    });
    await world.close();
  });
});
