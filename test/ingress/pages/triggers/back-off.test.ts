import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { updateOrganization } from "../../../../shared/accounts/organizations.ts";
import { recordMiss } from "../../../../shared/triggers/filter/back-off.ts";
import { updateTrigger } from "../../../../shared/triggers/triggers.ts";
import { sqlite } from "../../../helpers/databases.ts";
import { read, startTriggerPages, type TriggerPages, triggersPath } from "./trigger-pages.ts";

describe("the page of a trigger whose filter misses its deadline", () => {
  let pages: TriggerPages;

  before(async () => {
    pages = await startTriggerPages(sqlite);
  });
  after(() => pages.close());

  it("shows the back-off from the third miss on, until the filter changes", async () => {
    const { services, clock, acme, actor } = pages;
    const features = { webhook_filtering: true };
    const organization = await updateOrganization(services, "acme", { features });
    const filter = "webhook.payload.a == 1";
    const trigger = await acme.trigger({ filter });
    const show = async () => read(await pages.member.get(`${triggersPath}/${trigger.id}`));
    const miss = () => recordMiss(services.db, { triggerId: trigger.id, filter }, clock.now());
    await miss();
    await miss();
    assert.doesNotMatch(await show(), /deadline/);

    await miss();
    assert.match(
      await show(),
      /missed its deadline 3 times in a row.*tries it again.*in less than a minute/s,
    );
    clock.advance(11_000);
    assert.match(await show(), /tries it again soon/);

    await updateTrigger(services, { ...actor, organization }, trigger, { filter: "webhook.payload.a == 2" });
    assert.doesNotMatch(await show(), /deadline/);
  });
});
