import assert from "node:assert/strict";
import { it } from "node:test";
import { archivePipeline } from "../../../../shared/pipelines/archive.ts";
import { createSchedule } from "../../../../shared/schedules/schedules.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the page of a schedule", startQueuePages, (pages) => {
  const list = "/organizations/acme/pipelines/web/schedules";
  const show = async (cronline: string, label = "Nightly") => {
    const given = { cronline, label, commit: "HEAD", enabled: true };
    const { id } = await createSchedule(pages.services, pages.actor, pages.acme.pipeline, given);
    const { status, text } = await pages.asBob.get(`${list}/${id}`);
    assert.equal(status, 200);
    return text;
  };

  it("has its next five times, and those of its zone", async () => {
    const text = await show("0 8 * * 1-5 europe/berlin");
    assert.equal(text.match(/ in europe\/berlin/g)?.length, 5);
  });

  it("says that its cronline comes to no time", async () => {
    const text = await show("0 0 * 1 mon%52", "<b>Never</b>");
    assert.match(text, /comes to no time in the next years/);
    assert.doesNotMatch(text, /Next builds|<b>Never/);
    const { text: all } = await pages.asBob.get(list);
    assert.match(all, /&lt;b&gt;Never|&lt;b>Never/);
    assert.match(all, /none/);
  });

  it("offers no build while its pipeline is archived", async () => {
    assert.match(await show("0 8 * * *"), /Build now/);
    await archivePipeline(pages.services, pages.actor, pages.acme.pipeline);

    const text = await show("0 9 * * *");

    assert.match(text, /The pipeline is archived/);
    assert.doesNotMatch(text, /Build now/);
  });
});
