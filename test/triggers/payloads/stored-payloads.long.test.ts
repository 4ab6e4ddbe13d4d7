import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { readWebhookPayload } from "../../../shared/triggers/payloads/payloads.ts";
import { findPayload } from "../../../shared/triggers/payloads/store.ts";
import { buildOfDelivery, findDelivery } from "../../helpers/builds.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { type MadeTrigger, openTriggerApi } from "../../helpers/trigger-api.ts";

const payload = (n: number) => `{"pad":"${"é ".repeat(10_000)}", "n":${n}, "big":12345678901234567890}`;

describeWorld("payloads of 4 KB and more", openTriggerApi, (api) => {
  let trigger: MadeTrigger;

  before(async () => {
    await api.features({ webhook_filtering: true });
    trigger = await api.newTrigger({ filter: { expression: "webhook.payload.n == 1" } });
  });

  const rowOf = async (id: string) => {
    const { db } = api.world.services;
    const [row] = await db.select().from(db.tables.payloads).where(eq(db.tables.payloads.deliveryId, id));
    assert.ok(row);
    return row;
  };
  /** Stores like versions without a codec. */
  const storeAsReceived = async (id: string, text: string) => {
    const body = Buffer.from(text);
    await api.world.services.db.transaction(async (tx) => {
      const { payloads } = tx.tables;
      const values = { codec: "identity", body, size: body.length } as const;
      await tx.update(payloads).set(values).where(eq(payloads.deliveryId, id));
    });
  };
  const assertReadable = async (id: string, text: string) => {
    const path = `${api.triggersAt()}/${trigger.id}`;
    const request = await api.send("GET", `${path}/deliveries/${id}/request`);
    assert.ok(request.text.endsWith(`"payload":${text}}`));
    const test = { expression: "webhook.payload.n == 1", delivery_id: id };
    assert.deepEqual((await api.send("POST", `${path}/filter/test`, { body: test })).body, { result: true });
    assert.equal((await findPayload(api.world.services.db, id))?.body.toString(), text);

    await api.work(id);
    const build = await buildOfDelivery(api.world, id);
    assert.ok(build, "its filter was true");
    assert.equal(await readWebhookPayload(api.world.services, build), text);
    assert.equal((await api.send("POST", `${path}/deliveries/${id}/rebuild`)).status, 201);
  };

  it("are stored deflated, and read unchanged", async () => {
    const text = payload(1);
    const id = await api.deliver(trigger, text);

    const row = await rowOf(id);
    assert.deepEqual([row.codec, row.size], ["deflate", row.body.length]);
    assert.ok(row.size < 1000);
    assert.equal((await findDelivery(api.world, id))?.size, Buffer.byteLength(text));
    await assertReadable(id, text);
  });

  it("are read if they were stored uncompressed", async () => {
    const text = payload(1);
    const id = await api.deliver(trigger, text);

    await storeAsReceived(id, text);

    await assertReadable(id, text);
  });

  it("are filtered by their content", async () => {
    const id = await api.deliver(trigger, payload(2));

    await api.work(id);

    assert.equal((await findDelivery(api.world, id))?.reason, "filter_mismatch");
  });
});
