import assert from "node:assert/strict";
import { before, it } from "node:test";
import { buildWebhook } from "../../../helpers/builds.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { post } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorld("the search for deliveries", startQueuePages, (pages) => {
  let path: string;

  before(async () => {
    const trigger = await pages.acme.trigger({ type: "github" });
    path = `${pages.paths.pipeline}/triggers/${trigger.id}`;
    await buildWebhook(pages, trigger.path);
    for (const name of ["<1>", "2"])
      await post(pages.url + trigger.path, "{}", { "X-GitHub-Event": "push", "X-GitHub-Delivery": name });
  });

  const read = async (query: Record<string, string>) => {
    const { status, text } = await pages.asBob.get(`${path}?${new URLSearchParams(query)}`);
    assert.equal(status, 200, text);
    return { text, count: text.match(/\/deliveries\/[0-9a-f-]{36}"/g)?.length ?? 0 };
  };

  it("finds by status, event, sender's id and day, and keeps what was searched", async () => {
    assert.equal((await read({})).count, 3);
    assert.equal((await read({ status: "built" })).count, 1);
    assert.equal((await read({ status: "in process" })).count, 2);
    assert.equal((await read({ event: "push" })).count, 2);
    assert.equal((await read({ to: "2000-01-01" })).count, 0);
    const { text, count } = await read({ sent_as: "<1>", status: "in process" });
    assert.equal(count, 1);
    assert.match(text, /name="sent_as" value="&lt;1(>|&gt;)"/);
    assert.match(text, /aria-current="page">in process</);
    assert.ok(!text.includes("<1>"), "escaped");
  });

  it("says that nothing matches, and what is wrong with an address", async () => {
    const { text } = await read({ event: "release" });
    assert.match(text, /No delivery matches\. <a href="[^"?]*">Show all deliveries/);
    const refused = await pages.asBob.get(`${path}?status=paused`);
    assert.equal(refused.status, 422);
    assert.match(refused.text, /Status paused is not one of built, not run, failed, in process/);
  });
});
