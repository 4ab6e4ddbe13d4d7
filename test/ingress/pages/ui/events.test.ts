import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { before, describe, it } from "node:test";
import { Redis } from "ioredis";
import { addMember, expelMember, removeMember } from "../../../../shared/accounts/members.ts";
import { deactivateUser } from "../../../../shared/accounts/users.ts";
import { pauseDispatch, resumeDispatch } from "../../../../shared/dispatch/pause.ts";
import { redisKeys } from "../../../../shared/redis/keys.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { eventually, request } from "../../../helpers/http.ts";
import { type QueuePages, startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "GET /events", startQueuePages, (pages) => {
  let elsewhere: Awaited<ReturnType<QueuePages["another"]>>;

  before(async () => {
    elsewhere = await pages.another();
  });

  const addressIn = (html: string) =>
    /data-events="([^"]*)"/.exec(html)?.[1]?.replaceAll("&amp;", "&") ?? assert.fail("not live");
  /** `next` waits for an event. */
  const open = async (path = pages.paths.queue, { user = pages.ada, url = pages.url } = {}) => {
    const visitor = await pages.visitor(user);
    const address = addressIn((await visitor.get(path)).text);
    const abort = new AbortController();
    const init = { headers: { cookie: visitor.cookie }, signal: abort.signal };
    const response = await fetch(url + address, init);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader() ?? assert.fail();
    const again = () => visitor.get(address);
    return { response, again, next: async () => (await reader.read()).value, leave: () => abort.abort() };
  };
  const untilSubscribed = async (processes = 1) => {
    const redis = new Redis(process.env.TEST_REDIS_URL ?? "");
    const { events } = redisKeys(pages.config.redisPrefix);
    await eventually("the subscription", async () => {
      const [, subscribers] = (await redis.pubsub("NUMSUB", events)) as [string, number];
      return subscribers >= processes;
    });
    redis.disconnect();
  };
  const toggle = async () => {
    const { services, actor, acme } = pages;
    await pauseDispatch(services, actor, acme.queue, null);
    await resumeDispatch(services, actor, acme.queue);
  };

  it("answers 403 without a session, with another session, and for other topics", async () => {
    const [ada, bob, nobody] = await Promise.all([
      pages.visitor(pages.ada),
      pages.visitor(pages.bob),
      pages.visitor(),
    ]);
    const address = addressIn((await ada.get(pages.paths.queue)).text);
    const refused = async (path: string, who = ada) => {
      const answer = await who.get(path);
      assert.equal(answer.status, 403, path);
      assert.match(answer.text, /Load the page again/);
    };

    for (const who of [bob, nobody, await pages.visitor(pages.ada)]) await refused(address, who);
    await refused(address.replace(/topics=[^&]*/, `topics=queue%3A${pages.globex.id}`));
    await refused(address.replace(/key=[^&]*/, "key="));
    await refused("/events");
    assert.equal((await request(pages.url + address, { method: "POST" })).status, 405);
  });

  it("sends every change, also from other processes, until the reader disconnects", async () => {
    const stream = await open();
    assert.equal(stream.response.headers.get("content-type"), "text/event-stream");
    assert.equal(stream.response.headers.get("cache-control"), "no-store");
    assert.match((await stream.next()) ?? "", /^retry: \d+\n\n$/);
    await untilSubscribed();

    await pauseDispatch(elsewhere.services, pages.actor, pages.acme.queue, null);
    assert.match((await stream.next()) ?? "", /^event: changed\ndata:\n\n/);
    await resumeDispatch(pages.services, pages.actor, pages.acme.queue);
    assert.match((await stream.next()) ?? "", /^event: changed\ndata:\n\n/);

    stream.leave();
    await assert.rejects(stream.next);
    await toggle();
  });

  for (const [title, remove] of [
    [
      "is removed by an admin",
      (email) => expelMember(pages.services, pages.actor, { id: pages.bob.id, email }),
    ],
    ["is removed by the operator", (email) => removeMember(pages.services, { organization: "acme", email })],
    ["is deactivated", (email) => deactivateUser(pages.services, email)],
  ] as [string, (email: string) => Promise<unknown>][])
    it(`ends for a member who ${title}, in every process, and does not begin again`, async () => {
      const { email } = pages.bob;
      const streams = [
        await open(pages.paths.queue, { user: pages.bob }),
        await open("/organizations/acme", { user: pages.bob }),
        await open(pages.paths.queue, { user: pages.bob, url: elsewhere.url }),
      ];
      const stays = await open();
      for (const { next } of [...streams, stays]) assert.match((await next()) ?? "", /^retry/);
      await untilSubscribed(2);

      await remove(email);

      for (const { next, again } of streams) {
        let change = await next();
        while (change?.startsWith("event: changed")) change = await next(); // it may come before the end
        assert.equal(change, undefined, "it ends");
        assert.equal((await again()).status, 403);
      }
      await toggle();
      assert.match((await stays.next()) ?? "", /^event: changed/);
      stays.leave();
      if (title !== "is deactivated")
        await addMember(pages.services, { organization: "acme", email, role: "member" });
    });

  it("unsubscribes when the reader disconnects, and after a HEAD", async () => {
    const { events } = pages.services;
    const { subscribe } = events;
    let held = 0;
    events.subscribe = (topics, listener) => {
      const end = subscribe(topics, listener);
      held++;
      return () => {
        held--;
        end();
      };
    };
    const streams = await Promise.all([open(), open(pages.paths.cluster)]);
    assert.equal(held, 4); // also the ends of sessions
    for (const stream of streams) stream.leave();
    await eventually("both are let go of", async () => held === 0);

    const ada = await pages.visitor(pages.ada);
    const address = addressIn((await ada.get(pages.paths.queue)).text);
    await request(pages.url + address, { method: "HEAD", headers: { cookie: ada.cookie } });
    await eventually("the HEAD is let go of", async () => held === 0);
    events.subscribe = subscribe;
  });
});

describe("when the server stops", () => {
  it("ends open streams and unused connections before the deadline", async () => {
    // The test may not wait for the deadline.
    const pages = await startQueuePages(sqlite, { SHUTDOWN_SECONDS: "600" });
    const ada = await pages.visitor(pages.ada);
    const html = (await ada.get(pages.paths.queue)).text;
    const address = /data-events="([^"]*)"/.exec(html)?.[1]?.replaceAll("&amp;", "&");
    const streams = await Promise.all(
      Array.from({ length: 20 }, () => fetch(pages.url + address, { headers: { cookie: ada.cookie } })),
    );
    const ended = Promise.all(streams.map((stream) => stream.text()));
    const unused = connect(Number(new URL(pages.url).port), "127.0.0.1"); // browsers preconnect
    await Promise.all([once(unused, "connect"), (await pages.visitor()).get("/healthz")]);

    await pages.close();

    for (const text of await ended) assert.match(text, /^retry: 3000\n\n(event: changed\ndata:\n\n)?$/);
  });
});
