import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { dayMs, hourMs, minuteMs, secondMs } from "../../shared/durations.ts";
import type { MessageKind } from "../../shared/outbox/kind.ts";
import { retryMessages } from "../../shared/outbox/operate.ts";
import { openOutbox } from "../../shared/outbox/outbox.ts";
import { oldMessages } from "../../shared/outbox/retention.ts";
import { takeReceiverIfDue } from "../../shared/outbox/store.ts";
import { openOutgoing } from "../../shared/outgoing/outgoing.ts";
import { Outage } from "../../shared/sharing/gatherer.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openOutboxWorld, postingKind } from "./world.ts";

const outgoingFor = (timeoutMs: number) => openOutgoing(["127.0.0.0/8"], { timeoutMs });
const drip = async (response: ServerResponse) => {
  for (response.writeHead(200); !response.destroyed; await sleep(100)) response.write("x");
};
const numbered = (count: number) => Array.from({ length: count }, (_, at) => ({ event: `event ${at}` }));

describeWorld("the outbox", openOutboxWorld, (outbox) => {
  it("sends the messages of a build in their order, whatever workers look, each once", async () => {
    const { url, received } = await outbox.newReceiver();
    const [one, other] = [outbox.newBuildId(), outbox.newBuildId()];
    const messages = numbered(60).map((each, at) => ({ ...each, buildId: at % 2 ? one : other }));
    await outbox.put(url, messages);

    await outbox.send(3);

    for (const build of [one, other]) {
      const events = received.filter(({ body }) => body.build === build).map(({ body }) => body.event);
      assert.deepEqual(
        events,
        messages.filter(({ buildId }) => buildId === build).map(({ event }) => event),
      );
    }
    const rows = await outbox.messages(url);
    const [{ answer, answerStatus, request, tries, endedAt } = {} as (typeof rows)[number]] = rows;
    assert.deepEqual(new Set(rows.map(({ state }) => state)), new Set(["sent"]));
    assert.deepEqual([answer, answerStatus, tries], ["thanks", 200, 0]);
    assert.deepEqual([request?.method, request?.host, endedAt !== null], ["POST", new URL(url).host, true]);
    assert.equal(request?.body, JSON.stringify(received[0]?.body));
    assert.deepEqual(await outbox.receivers(), []);
  });

  it("makes large messages only while there is room for them, whatever receivers there are", async () => {
    const large: MessageKind = {
      ...postingKind,
      async prepare(services, message, turn) {
        await turn.hold(8 * 1024 * 1024);
        return postingKind.prepare(services, message, turn);
      },
    };
    let [present, most] = [0, 0];
    const receivers = [await outbox.newReceiver(), await outbox.newReceiver(), await outbox.newReceiver()];
    for (const receiver of receivers) {
      receiver.behave(async (response) => {
        most = Math.max(most, ++present);
        await sleep(20);
        present--;
        response.end();
      });
      await outbox.put(
        receiver.url,
        numbered(3).map((each) => ({ ...each, buildId: outbox.newBuildId() })),
      );
    }

    await outbox.send(1, { service: large });

    assert.equal(most, 1);
    assert.deepEqual(
      receivers.map(({ received }) => received.length),
      [3, 3, 3],
    );
  });

  it("reads once what the messages of a turn have in common, and again after it failed", async () => {
    const { url, received } = await outbox.newReceiver();
    let reads = 0;
    const sharing: MessageKind = {
      ...postingKind,
      async prepare(services, message, turn) {
        const read = async () => {
          if (++reads === 1) throw new Error("no such table");
          return "read";
        };
        await turn.share("steps", read).catch(() => turn.share("steps", read));
        return postingKind.prepare(services, message, turn);
      },
    };
    await outbox.put(url, numbered(3));

    await outbox.send(1, { service: sharing });

    assert.deepEqual([received.length, reads], [3, 2]);
  });

  it("begins no further message once it is closed, and stores what became of the others", async () => {
    const receiver = await outbox.newReceiver();
    const { url, received } = receiver;
    await outbox.put(url, numbered(40));
    const opened = openOutbox(outbox.services, { service: postingKind });
    let closed: Promise<void> | undefined;
    receiver.behave(async (response) => {
      closed ??= opened.close();
      await sleep(50);
      response.end();
    });
    opened.wake();
    await opened.idle();
    await closed;
    assert.ok(received.length < 10, `${received.length} were begun`);

    await outbox.send();
    assert.equal(new Set(receiver.events()).size, 40);
    assert.equal(received.length, 40, "each once");
  });

  it("keeps what became of a turn's other messages when something fails that one needs", async () => {
    const { url, events } = await outbox.newReceiver();
    let failures = 0;
    const failing: MessageKind = {
      ...postingKind,
      async prepare(services, message, turn) {
        if (message.event === "event 3" && ++failures === 1) throw new Outage("The database is away.");
        return postingKind.prepare(services, message, turn);
      },
    };
    await outbox.put(url, numbered(8));

    await outbox.send(1, { service: failing });
    outbox.world.clock.advance(2 * minuteMs);
    await outbox.send(1, { service: failing });

    assert.deepEqual(
      events().sort(),
      numbered(8).map(({ event }) => event),
    );
    assert.deepEqual(new Set((await outbox.messages(url)).map(({ state }) => state)), new Set(["sent"]));
  });

  it("moves on a waiting message about the same topic, and sends one that was moved on meanwhile once more", async () => {
    const receiver = await outbox.newReceiver();
    const { url } = receiver;
    const topic = "build 1";
    for (const { event } of numbered(10)) await outbox.put(url, [{ event, topic }]);
    await outbox.put(url, [
      { event: "twice", topic: "build 2" },
      { event: "twice again", topic: "build 2" },
    ]);
    let isFirst = true;
    receiver.behave(async (response) => {
      if (isFirst) {
        isFirst = false;
        await outbox.put(url, [{ event: "newer", topic }]);
      }
      response.end();
    });

    await outbox.send();

    assert.deepEqual(receiver.events().sort(), ["event 9", "newer", "twice again"]);
    assert.equal((await outbox.messages(url)).length, 2);
  });

  it("lets a receiver rest that fails, and gives its messages up after a day", async () => {
    const receiver = await outbox.newReceiver();
    const { clock } = outbox.world;
    const { url } = receiver;
    receiver.behave(500);
    const build = outbox.newBuildId();
    await outbox.put(url, [
      { event: "first", buildId: build },
      { event: "second", buildId: build },
    ]);
    const rests = [10 * secondMs, minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, hourMs];
    for (const [at, rest] of rests.entries()) {
      await outbox.send();
      assert.deepEqual(receiver.events(), Array(at + 1).fill("first"));
      clock.advance(rest - secondMs);
      await outbox.send();
      assert.equal(receiver.received.length, at + 1, `it rests for ${rest} ms`);
      clock.advance(2 * secondMs);
    }
    const [failing] = await outbox.receivers();
    assert.deepEqual([failing?.problem, failing?.failures], ["It answered 500", rests.length]);

    receiver.behave((response) => response.end());
    await outbox.send();
    assert.deepEqual(receiver.events().slice(-2), ["first", "second"]);
    assert.deepEqual(new Set(receiver.received.map(({ body }) => body.id)).size, 2, "their ids repeat");

    receiver.behave(503);
    await outbox.put(url, numbered(3));
    await outbox.send();
    clock.advance(dayMs);
    await outbox.send();
    const rows = await outbox.messages(url);
    assert.deepEqual(
      rows.map(({ state }) => state),
      ["sent", "sent", "failed", "failed", "failed"],
    );
    assert.deepEqual(await outbox.receivers(), []);
  });

  it("keeps a Retry-After, up to an hour", async () => {
    const receiver = await outbox.newReceiver();
    const { clock } = outbox.world;
    const { url } = receiver;
    await outbox.put(url, [{ event: "late" }]);
    for (const [headerOf, waitMs] of [
      [() => "120", 120 * secondMs],
      [() => new Date(clock.now().getTime() + 10 * minuteMs).toUTCString(), 10 * minuteMs],
      [() => "999999", hourMs],
    ] as const) {
      const header = headerOf();
      receiver.behave(429, { "Retry-After": header });
      const before = receiver.received.length;
      await outbox.send();
      clock.advance(waitMs - 10 * secondMs);
      await outbox.send();
      assert.equal(receiver.received.length, before + 1, header);
      clock.advance(12 * secondMs);
    }
  });

  it("lets a message rest that its receiver refuses, while others go on", async () => {
    const receiver = await outbox.newReceiver();
    const { clock } = outbox.world;
    const { url } = receiver;
    receiver.behave((response, { body }) => {
      response.writeHead(body.event === "refused" ? 422 : 200).end();
    });
    const build = outbox.newBuildId();
    await outbox.put(url, [
      { event: "refused", buildId: build },
      { event: "next", buildId: build },
    ]);
    await outbox.send();
    assert.deepEqual(receiver.events(), ["refused", "next"]);
    await outbox.put(url, [{ event: "another" }]);
    await outbox.send();
    assert.deepEqual(receiver.events(), ["refused", "next", "another"], "a new one does not wait for it");
    clock.advance(11 * secondMs);
    await outbox.send();
    assert.deepEqual(receiver.events().slice(3), ["refused"]);
    clock.advance(dayMs);
    await outbox.send();
    const [refused] = await outbox.messages(url);
    assert.deepEqual([refused?.state, refused?.answerStatus, refused?.tries], ["failed", 422, 2]);
  });

  it("sends to others while some hang, close, redirect or answer a byte at a time", async () => {
    const bad = await Promise.all(Array.from({ length: 8 }, () => outbox.newReceiver()));
    const good = await outbox.newReceiver();
    const allHang = Promise.withResolvers<void>();
    const allReceived = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    let [hanging, closed] = [0, 0];
    const hang = (response: ServerResponse) => {
      if (++hanging === 12) allHang.resolve();
      response.on("close", () => closed++);
      void over.promise.then(() => response.destroy());
    };
    const behaviours: ((response: ServerResponse) => void)[] = [
      hang,
      (response) => response.destroy(),
      (response) => response.writeHead(302, { Location: `${good.url}/redirected` }).end(),
      (response) => {
        hang(response);
        drip(response);
      },
    ];
    for (const [at, receiver] of bad.entries()) receiver.behave(behaviours[at % 4] ?? hang);
    good.behave((response) => {
      response.end();
      if (good.received.length === 20) allReceived.resolve();
    });
    for (const receiver of bad) await outbox.put(receiver.url, numbered(3));
    await outbox.put(good.url, numbered(20));

    const sending = outbox.send(1, undefined, { outgoing: outgoingFor(minuteMs) });
    await Promise.all([allHang.promise, allReceived.promise]);
    const closedBefore = closed;
    over.resolve();
    await sending;

    assert.equal(closedBefore, 0);
    assert.ok(good.received.every(({ path }) => path === "/"));
    const problems = (await outbox.receivers()).map(({ problem }) => problem);
    assert.equal(problems.length, 8);
    for (const part of ["could not be reached", "It answered 302"])
      assert.ok(
        problems.some((problem) => problem?.includes(part)),
        `${part}: ${problems}`,
      );
    outbox.world.clock.advance(2 * dayMs);
    await outbox.send();
  });

  it("gives up an answer that does not begin, or does not end, and says so", async () => {
    const receivers = [await outbox.newReceiver(), await outbox.newReceiver()];
    for (const [at, receiver] of receivers.entries()) {
      receiver.behave(at === 0 ? () => {} : drip);
      await outbox.put(receiver.url, numbered(1));
    }

    await outbox.send(1, undefined, { outgoing: outgoingFor(200) });

    for (const { problem } of await outbox.receivers()) assert.match(problem ?? "", /did not answer within/);
    outbox.world.clock.advance(2 * dayMs);
    for (const receiver of receivers) receiver.behave(422);
    await outbox.send();
  });

  it("sends again what a process may have sent that ended in the middle", async () => {
    const receiver = await outbox.newReceiver();
    const { clock, services } = outbox.world;
    const { url } = receiver;
    await outbox.put(url, [{ event: "perhaps" }]);
    const now = clock.now();
    const until = new Date(now.getTime() + 30 * secondMs);
    const key = { organizationId: outbox.organizationId, receiver: url };
    await services.db.transaction((tx) => takeReceiverIfDue(tx, { ...key, now, until }));
    await outbox.put(url, [{ event: "later" }]);

    await outbox.send();
    assert.deepEqual(receiver.events(), [], "the other process has the receiver");
    clock.advance(31 * secondMs);
    await outbox.send();
    assert.deepEqual(receiver.events(), ["perhaps", "later"]);
  });

  it("asks a receiver again at once whose message was retried while it failed", async () => {
    const receiver = await outbox.newReceiver();
    const { clock, services } = outbox.world;
    const { url } = receiver;
    for (const status of [500, 422]) {
      receiver.behave(async (response) => {
        receiver.behave(200);
        clock.advance(secondMs);
        const waiting = (await outbox.messages(url)).filter(({ state }) => state === "waiting");
        await retryMessages(
          services,
          outbox.organizationId,
          waiting.map(({ id }) => id),
        );
        response.writeHead(status).end();
      });
      await outbox.put(url, [{ event: `${status}` }]);
      await outbox.send();
    }
    assert.deepEqual(receiver.events(), ["500", "500", "422", "422"]);
    const rows = await outbox.messages(url);
    assert.deepEqual(
      rows.map(({ state, tries }) => [state, tries]),
      [
        ["sent", 0],
        ["sent", 0],
      ],
    );
  });

  it("sends all in order to a receiver that was down for an hour, and to others meanwhile", async () => {
    const { clock } = outbox.world;
    const [receiver, other] = [await outbox.newReceiver(), await outbox.newReceiver()];
    const { url } = receiver;
    const build = outbox.newBuildId();
    const told: string[] = [];
    const put = async (event: string) => {
      told.push(event);
      for (const each of [url, other.url]) await outbox.put(each, [{ event, buildId: build }]);
      await outbox.send();
      assert.equal(other.events().at(-1), event);
    };
    receiver.behave((response) => response.destroy());
    for (let minute = 0; minute < 60; minute += 10) {
      await put(`minute ${minute}`);
      clock.advance(10 * minuteMs);
    }
    assert.ok(receiver.received.length < told.length, "it rests");

    receiver.behave(200);
    receiver.received.length = 0;
    clock.advance(hourMs);
    await put("minute 120");
    assert.deepEqual(receiver.events(), told);
    assert.deepEqual(other.events(), told);
  });

  it("lets a message rest whose sending throws, sends the others, and gives it up after a day", async () => {
    const receiver = await outbox.newReceiver();
    const { clock } = outbox.world;
    const { url } = receiver;
    const throwing: MessageKind = {
      ...postingKind,
      async prepare(services, message, turn) {
        if (message.event !== "broken") return postingKind.prepare(services, message, turn);
        const send = () => Promise.reject(new TypeError("no such member"));
        return { host: "mail.example.com", send };
      },
    };
    await outbox.put(url, [{ event: "broken" }]);
    await outbox.send(1, { service: throwing });
    const [broken] = await outbox.messages(url);
    assert.deepEqual([broken?.state, broken?.tries, broken?.answer], ["waiting", 1, "It could not be sent"]);
    const restMs = Number(broken?.dueAt) - clock.now().getTime();
    assert.ok(restMs > 9 * secondMs && restMs <= 10 * secondMs, `${restMs}`);

    await outbox.put(url, [{ event: "sound" }]);
    await outbox.send(1, { service: throwing });
    assert.deepEqual(receiver.events(), ["sound"]);
    clock.advance(dayMs);
    await outbox.send(1, { service: throwing });
    assert.equal((await outbox.messages(url))[0]?.state, "failed");
    assert.deepEqual(await outbox.receivers(), []);
  });

  it("drops what has nothing left to say, and rests with a kind that another version knows", async () => {
    const { url, received } = await outbox.newReceiver();
    await outbox.put(url, [{ event: "gone" }]);
    await outbox.send(1, { service: { ...postingKind, prepare: async () => undefined } });
    const [gone] = await outbox.messages(url);
    assert.deepEqual([gone?.state, received.length], ["dropped", 0]);

    await outbox.put(url, [{ event: "newer" }]);
    await outbox.send(1, {});
    const [, kept] = await outbox.messages(url);
    assert.deepEqual([kept?.state, kept?.tries], ["waiting", 0]);
    const [resting] = await outbox.receivers();
    assert.deepEqual([resting?.failures, resting?.failingSince], [0, null], "nothing was tried");
    outbox.world.clock.advance(2 * minuteMs);
    await outbox.send();
    assert.equal(received.length, 1);
  });

  it("keeps the last 20 requests of a service", async () => {
    const { url } = await outbox.newReceiver();
    const serviceId = outbox.newBuildId();
    await outbox.put(
      url,
      numbered(50).map((each) => ({ ...each, serviceId })),
    );
    await outbox.send();
    const rows = await outbox.messages(url);
    assert.deepEqual(
      rows.map(({ request }) => request !== null),
      rows.map((_, at) => at >= 30),
    );
    assert.ok(rows.every(({ answerStatus }) => answerStatus === 200));
  });

  it("keeps ended messages for as long as OUTBOX_RETENTION_DAYS says", async () => {
    const { url } = await outbox.newReceiver();
    await outbox.put(url, [{ event: "old" }]);
    await outbox.send();
    outbox.world.clock.advance(13 * dayMs);
    await oldMessages.purge(outbox.world.services);
    assert.equal((await outbox.messages(url)).length, 1);
    outbox.world.clock.advance(2 * dayMs);
    await oldMessages.purge(outbox.world.services);
    assert.equal((await outbox.messages(url)).length, 0);
  });
});
