import assert from "node:assert/strict";
import { it } from "node:test";
import { updateConnection } from "../../shared/connections/connections.ts";
import { findConnection } from "../../shared/connections/store.ts";
import { listFailures } from "../../shared/statuses/store.ts";
import { describeWorld } from "../helpers/databases.ts";
import type { Said } from "./host-stand-in.ts";
import { type Connected, openStatusWorld } from "./world.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describeWorld("a host that refuses statuses", openStatusWorld, (world) => {
  const read = async ({ connection: { organizationId, id } }: Connected) => {
    const found = await findConnection(world.world.services.db, organizationId, id);
    assert.ok(found);
    return found;
  };
  const failures = ({ connection }: Connected) => listFailures(world.world.services.db, connection, 20);
  const later = async (ms: number) => {
    world.world.clock.advance(ms);
    await world.send();
  };

  it("is asked once an hour while it refuses the token, by all pipelines together", () =>
    world.onHost("gitea", async (connected) => {
      const { host, newPipeline } = connected;
      const [first, second] = [await newPipeline(), await newPipeline()];
      host.renewToken("another-token");
      for (let build = 0; build < 5; build++) {
        await first.build();
        await world.send();
      }
      await second.build();
      await world.send();
      await later(30 * minuteMs);
      assert.equal(host.requests(), 1);
      assert.ok((await read(connected)).failingSince);
      const [failure] = await failures(connected);
      assert.match(failure?.problem ?? "", /401: the token is wrong or was revoked/);

      await later(31 * minuteMs);
      assert.ok(host.requests() <= 3, `${host.requests()} requests`);
    }));

  it("gets all that waits as soon as it has a new token", () =>
    world.onHost("gitea", async (connected) => {
      const { host, newPipeline, connection, told } = connected;
      const pipelines = [await newPipeline(), await newPipeline()];
      host.renewToken("another-token");
      for (const { build } of pipelines) {
        await build();
        await world.send();
      }
      await updateConnection(world.world.services, world.actor, connection, { token: "another-token" });
      await world.send();

      for (const { context } of pipelines) assert.deepEqual(told(context), ["pending"]);
      assert.equal((await read(connected)).failingSince, null);
      assert.deepEqual(await failures(connected), []);
    }));

  it("is sound if it gets a new token while it refuses the former one", () =>
    world.onHost("gitea", async (connected) => {
      const { host, newPipeline, connection, told } = connected;
      const { context, build } = await newPipeline();
      host.meanwhile(async () => {
        world.world.clock.advance(1000);
        host.renewToken("another-token");
        await updateConnection(world.world.services, world.actor, connection, { token: "another-token" });
      });
      await build();
      await world.send();

      assert.deepEqual([told(context), host.requests()], [["pending"], 2]);
      assert.equal((await read(connected)).failingSince, null);
      assert.deepEqual(await failures(connected), []);
    }));

  it("is sound again once it takes a status", () =>
    world.onHost("gitea", async (connected) => {
      const { host, newPipeline, told } = connected;
      const { context, build } = await newPipeline();
      host.say({ status: 403 });
      await build();
      await world.send();
      assert.ok((await read(connected)).failingSince);
      host.say(undefined);
      await later(30 * minuteMs);
      assert.deepEqual(told(context), []);
      await later(31 * minuteMs);
      assert.deepEqual(told(context), ["pending"]);
      assert.equal((await read(connected)).failingSince, null);
    }));

  it("holds up no other pipeline by a repository that it does not know", () =>
    world.onHost("gitea", async (connected) => {
      const { host, newPipeline, told } = connected;
      const [unknown, known] = [await newPipeline(), await newPipeline()];
      host.say({ status: 404 });
      await unknown.build();
      await world.send();
      host.say(undefined);
      await known.build();
      await world.send();

      assert.deepEqual([told(unknown.context), told(known.context)], [[], ["pending"]]);
      const [failure, ...others] = await failures(connected);
      assert.deepEqual([failure?.pipeline.slug, others.length], [unknown.slug, 0]);
      assert.ok((await read(connected)).failingSince, "it refuses one still");
      await later(61 * minuteMs);
      assert.deepEqual(told(unknown.context), ["pending"]);
      assert.equal((await read(connected)).failingSince, null);
    }));

  const limits: [string, Said, number][] = [
    ["429 with Retry-After", { status: 429, headers: { "Retry-After": "300" } }, 5 * minuteMs],
    ["403 of GitHub's second limit", { status: 403, headers: { "Retry-After": "120" } }, 2 * minuteMs],
  ];
  for (const [name, said, ms] of limits)
    it(`is left alone by all pipelines as long as it wants: ${name}`, () =>
      world.onHost("gitea", async (connected) => {
        const { host, newPipeline, told } = connected;
        const [first, second] = [await newPipeline(), await newPipeline()];
        host.say(said);
        await first.build();
        await world.send();
        await second.build();
        await world.send();
        assert.equal(host.requests(), 1);
        host.say(undefined);
        await later(ms - minuteMs);
        assert.equal(host.requests(), 1);
        await later(minuteMs + 1000);
        assert.deepEqual([told(first.context), told(second.context)], [["pending"], ["pending"]]);
        assert.equal((await read(connected)).failingSince, null);
      }));

  it("is asked again, and later, while it has a fault of its own", () =>
    world.onHost("gitea", async (connected) => {
      const { host, newPipeline, told } = connected;
      const { context, build } = await newPipeline();
      host.say({ status: 500, body: "a".repeat(100_000) });
      await build();
      await world.send();
      await later(11_000);
      assert.equal(host.requests(), 2);
      assert.equal((await read(connected)).failingSince, null);
      host.say(undefined);
      await later(61_000);
      assert.deepEqual(told(context), ["pending"]);
    }));

  it("gives a status up after a day", () =>
    world.onHost("gitea", async (connected) => {
      const { host, newPipeline } = connected;
      const { build } = await newPipeline();
      host.say({ status: 500 });
      await build();
      for (let hour = 0; hour <= 30; hour++) await later(hourMs);
      const { db } = world.world.services;
      const rows = await db.select().from(db.tables.outbox);
      const mine = rows.filter(({ connectionId }) => connectionId === connected.connection.id);
      assert.deepEqual(
        mine.map(({ state }) => state),
        ["failed"],
      );
    }));

  it("is forgotten with its connection, and what waited is dropped", async () => {
    const connected = await world.connect("gitea");
    connected.host.say({ status: 500 });
    await (await connected.newPipeline()).build();
    await world.send();
    await connected.close();
    await later(minuteMs);
    const { db } = world.world.services;
    const rows = await db.select().from(db.tables.outbox);
    const mine = rows.filter(({ connectionId }) => connectionId === connected.connection.id);
    assert.deepEqual(
      mine.map(({ state }) => state),
      ["dropped"],
    );
  });
});
