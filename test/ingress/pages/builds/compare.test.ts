import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { buildWebhook } from "../../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const known = "1".repeat(40);

describeWorldOn(sqlite, "the comparison of two builds", startQueuePages, (pages) => {
  before(async () => {
    const { path } = await pages.acme.trigger();
    await buildWebhook(pages, path);
    await buildWebhook(pages, path);
    await change(1, { state: "passed" });
  });

  const change = (number: number, set: { state?: "passed"; commit?: string }) => {
    const { builds } = pages.services.db.tables;
    return pages.services.db.transaction((tx) => tx.update(builds).set(set).where(eq(builds.number, number)));
  };
  const read = async () => {
    const { text } = await pages.asAda.get("/organizations/acme/pipelines/web/builds/2/compare");
    const [, paragraph = ""] = /<\/h1><p>(.*?)<\/p>/s.exec(text) ?? [];
    return paragraph.replace(/<[^>]*>/g, "");
  };

  it("calls a commit that is not known yet the newest one of the branch", async () => {
    assert.equal(await read(), "Each is of the newest commit of main at its time.");

    await change(1, { commit: known });
    assert.match(await read(), /^From 1111111.* to the newest commit of main$/);

    await change(2, { commit: known });
    assert.match(await read(), /^Both are of the commit 1111111/);
  });
});
