import assert from "node:assert/strict";
import { it } from "node:test";
import { forgetHearers } from "../../shared/news/hearers.ts";
import { putNewsOfBuilds } from "../../shared/news/put.ts";
import type { MessageKind } from "../../shared/outbox/kind.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openOutboxWorld, postingKind } from "./world.ts";

describeWorld("news", openOutboxWorld, (outbox) => {
  const tell = (id: string, notify: unknown[] | null) =>
    outbox.world.services.db.transaction((tx) =>
      putNewsOfBuilds(tx, [{ id, organizationId: outbox.organizationId, notify }], "build.finished"),
    );
  const newsRows = () => {
    const { db } = outbox.world.services;
    return db.select().from(db.tables.news);
  };

  it("of what nobody hears has no row", async () => {
    await tell(outbox.newBuildId(), null);
    assert.deepEqual(await newsRows(), []);
  });

  it("of a build that finished is heard by mail, once a worker sends mail", async () => {
    const sendsMail = (mailer: typeof outbox.services.mailer) =>
      outbox.send(1, { mail: postingKind }, { mailer });
    const heard = async () => {
      forgetHearers(outbox.organizationId);
      await tell(outbox.newBuildId(), null);
      const { length } = await newsRows();
      const { db } = outbox.services;
      await db.transaction(async (tx) => void (await tx.delete(tx.tables.news)));
      return length;
    };
    await sendsMail({ send: async () => {} });
    assert.equal(await heard(), 1);
    await sendsMail(undefined);
    assert.equal(await heard(), 0);
  });

  it("becomes messages in its order, each once, whatever workers look", async () => {
    const { url, received } = await outbox.newReceiver();
    const kind: MessageKind = {
      ...postingKind,
      messagesOf: async (_tx, _services, news) =>
        news.map(({ event, buildId }) => ({ receiver: url, event, buildId, target: { url } })),
    };
    const ids = Array.from({ length: 250 }, () => outbox.newBuildId());
    for (const id of ids) await tell(id, [{}]);

    await outbox.send(3, { service: kind });

    assert.deepEqual(await newsRows(), []);
    assert.deepEqual(
      (await outbox.messages(url)).map(({ buildId }) => buildId),
      ids,
    );
    assert.deepEqual(new Set(received.map(({ body }) => body.build)), new Set(ids));
    assert.equal(received.length, ids.length);
  });

  it("does not wait for a kind that can make no message of some", async () => {
    const { url } = await outbox.newReceiver();
    const [bad, ...good] = Array.from({ length: 3 }, () => outbox.newBuildId());
    const service: MessageKind = {
      ...postingKind,
      messagesOf: async (_tx, _services, news) =>
        news.map(({ event, buildId }) => ({ receiver: url, event, buildId, target: { url } })),
    };
    const notify: MessageKind = {
      ...service,
      async messagesOf(tx, services, news) {
        if (news.some(({ buildId }) => buildId === bad)) throw new Error("no");
        return service.messagesOf(tx, services, news);
      },
    };
    for (const id of [bad, ...good]) await tell(id ?? "", [{}]);

    await outbox.send(1, { service, notify });

    const kinds = (await outbox.messages(url)).map(({ kind, buildId }) => `${kind} ${buildId}`);
    assert.deepEqual(
      kinds.sort(),
      [bad, ...good]
        .map((id) => `service ${id}`)
        .concat(good.map((id) => `notify ${id}`))
        .sort(),
    );
    assert.deepEqual(await newsRows(), []);
  });
});
