import assert from "node:assert/strict";
import { it } from "node:test";
import { dayMs } from "../../../../shared/durations.ts";
import { evictPayloads } from "../../../../shared/triggers/payloads/payloads.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { describeOnSqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeOnSqlite("the page of a build", (database) => {
  it("says when the webhook's payload is no longer kept", async () => {
    const pages = await startQueuePages(database);
    const { path } = await pages.acme.trigger();
    const { number } = await buildWebhook(pages, path, '{"ref":"a-payload"}');
    const bob = await pages.visitor(pages.bob);

    const before = (await bob.get(pages.paths.build(number))).text;
    pages.clock.advance(7 * dayMs + 60_000);
    await evictPayloads(pages.services);
    const again = await pages.visitor(pages.bob);
    const after = (await again.get(pages.paths.build(number))).text;

    assert.match(before, /payload" download>Download<\/a> <span class="quiet">19 bytes/);
    assert.doesNotMatch(before, /no longer kept/);
    assert.match(after, /The payload of the webhook that made this build is no longer kept/);
    assert.doesNotMatch(after, /payload" download/);
    await pages.close();
  });
});
