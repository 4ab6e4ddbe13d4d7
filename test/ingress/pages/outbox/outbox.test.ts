import assert from "node:assert/strict";
import { it } from "node:test";
import { minuteMs } from "../../../../shared/durations.ts";
import { putMessages } from "../../../../shared/outbox/put.ts";
import { updateReceiver } from "../../../../shared/outbox/store.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the page of messages", startQueuePages, (pages) => {
  const at = "/organizations/acme/outbox";
  const put = async (event: string) => {
    const { db } = pages.services;
    const message = {
      kind: "notify" as const,
      receiver: "a",
      event,
      target: { url: "https://secret.example.com" },
    };
    await db.transaction((tx) => putMessages(tx, pages.acme.id, [message]));
    const rows = await db.select().from(db.tables.outbox);
    return rows.find((row) => row.event === event)?.id ?? "";
  };
  const stateOf = async (id: string) => {
    const { db } = pages.services;
    return (await db.select().from(db.tables.outbox)).find((row) => row.id === id)?.state;
  };

  it("shows admins what waits, without its target, and drops it", async () => {
    const id = await put("build.finished");
    const page = await pages.asAda.get(at);
    assert.equal(page.status, 200);
    assert.match(page.text, /Notice of a pipeline<\/strong> <code>build\.finished<\/code> .*: waits</);
    assert.doesNotMatch(page.text, /secret\.example/);

    const dropped = await pages.asAda.post(`${at}/${id}/drop`, {});
    assert.equal(dropped.status, 303);
    assert.equal(await stateOf(id), "dropped");
    assert.match((await pages.asAda.get(at)).text, /No message waits/);
  });

  it("says why a message waits that was not tried, and until when", async () => {
    const id = await put("build.running");
    const { db, clock } = pages.services;
    const key = { organizationId: pages.acme.id, receiver: "a" };
    const dueAt = new Date(clock.now().getTime() + 45 * minuteMs);
    await db.transaction((tx) => updateReceiver(tx, key, { dueAt, failures: 5, problem: "It answered 503" }));
    const { text } = await pages.asAda.get(at);
    assert.match(
      text,
      /Its receiver rests: It answered 503\. .*Next try <time[^>]*>in 4[45] minutes<\/time>/,
    );
    assert.equal((await pages.asAda.post(`${at}/${id}/retry`, {})).status, 303);
    const due = (await pages.asAda.get(at)).text;
    assert.doesNotMatch(due, /in 4[45] minutes|Next try <time/);
    assert.match(due, /Its next try is due\./);
    await pages.asAda.post(`${at}/${id}/drop`, {});
  });

  it("sends messages again, and refuses members and unknown ones", async () => {
    const id = await put("build.failing");
    assert.equal((await pages.asAda.post(`${at}/${id}/retry`, {})).status, 303);
    assert.equal(await stateOf(id), "waiting");
    assert.equal((await pages.asAda.post(`${at}/retry`, {})).status, 303);
    assert.equal((await pages.asAda.post(`${at}/x/retry`, {})).status, 404);
    assert.equal((await pages.asBob.get(at)).status, 403);
    assert.equal((await pages.asBob.post(`${at}/${id}/drop`, {})).status, 403);
    assert.match((await pages.asAda.get(`${at}?state=failed`)).text, /No message has failed/);
  });
});
