import assert from "node:assert/strict";
import { it } from "node:test";
import { dayMs } from "../../shared/durations.ts";
import { dropMessages, retryAllFailed, retryMessages } from "../../shared/outbox/operate.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openOutboxWorld } from "./world.ts";

describeWorld("operators of the outbox", openOutboxWorld, (outbox) => {
  /** Lets three messages to a receiver fail for good. */
  const fail = async () => {
    const receiver = await outbox.newReceiver();
    receiver.behave(500);
    await outbox.put(receiver.url, [{ event: "a", topic: "t" }, { event: "b" }, { event: "c" }]);
    await outbox.send();
    outbox.world.clock.advance(dayMs);
    await outbox.send();
    const ids = (await outbox.messages(receiver.url)).map(({ id }) => id);
    receiver.behave((response) => response.end());
    receiver.received.length = 0;
    return { ...receiver, ids };
  };
  const statesOf = async (url: string) => (await outbox.messages(url)).map(({ state }) => state);

  it("send failed messages again, one beside a newer one about its topic", async () => {
    const { url, ids, events } = await fail();
    await outbox.put(url, [{ event: "newer", topic: "t" }]);

    const retried = await retryMessages(outbox.services, outbox.organizationId, ids.slice(0, 2));
    assert.deepEqual(retried.sort(), ids.slice(0, 2));
    await outbox.send();

    assert.deepEqual(events().sort(), ["a", "b", "newer"]);
    assert.deepEqual(await statesOf(url), ["sent", "sent", "failed", "sent"]);
  });

  it("send all that have failed again", async () => {
    const { url, events } = await fail();
    assert.ok((await retryAllFailed(outbox.services, outbox.organizationId)) >= 3);
    await outbox.send();
    assert.deepEqual(events().sort(), ["a", "b", "c"]);
    assert.deepEqual(await statesOf(url), ["sent", "sent", "sent"]);
  });

  it("send at once what waits for a receiver that rests", async () => {
    const receiver = await outbox.newReceiver();
    receiver.behave(503, { "Retry-After": "3600" });
    await outbox.put(receiver.url, [{ event: "waits" }]);
    await outbox.send();
    receiver.behave((response) => response.end());
    const [message] = await outbox.messages(receiver.url);

    await retryMessages(outbox.services, outbox.organizationId, [message?.id ?? ""]);
    await outbox.send();

    assert.deepEqual(await statesOf(receiver.url), ["sent"]);
  });

  it("drop messages, and change none of another organization, or that was sent", async () => {
    const { url, ids } = await fail();
    const other = outbox.newBuildId();
    assert.deepEqual(await dropMessages(outbox.services, other, ids), []);
    assert.deepEqual(await retryMessages(outbox.services, other, ids), []);
    assert.deepEqual((await dropMessages(outbox.services, outbox.organizationId, ids.slice(1))).length, 2);
    await retryMessages(outbox.services, outbox.organizationId, ids);
    await outbox.send();
    assert.deepEqual(await dropMessages(outbox.services, outbox.organizationId, ids), []);
    assert.deepEqual(await statesOf(url), ["sent", "dropped", "dropped"]);
  });
});
