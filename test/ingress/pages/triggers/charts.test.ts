import assert from "node:assert/strict";
import { before, beforeEach, it } from "node:test";
import { hourMs, hourOf } from "../../../../shared/durations.ts";
import type { FigureName, RefusalCause } from "../../../../shared/vocabulary.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { post } from "../../../helpers/http.ts";
import { exhibitWeek } from "../looks/figures.ts";
import { startTriggerPages, triggersPath } from "./trigger-pages.ts";

const allCauses = [
  ...["disabled", "wrong_content_type", "form_content_type", "wrong_encoding", "too_large", "too_slow"],
  ...["too_many_uploads", "invalid_signature", "long_idempotency_key", "rate_limited", "invalid_json"],
  ...["too_deep", "busy"],
] as RefusalCause[];

describeWorldOn(sqlite, "the charts of a trigger", startTriggerPages, (pages) => {
  let triggerId: string;

  before(() => pages.clock.freeze());
  beforeEach(async () => {
    await pages.clear();
    triggerId = (await pages.acme.trigger()).id;
  });

  const hoursAgo = (hours: number) => new Date(hourOf(pages.clock.now()).getTime() - hours * hourMs);
  const counted = (figure: FigureName, time: Date, value: number, minutes = 60) =>
    pages.services.db.transaction((tx) =>
      tx.insert(tx.tables.figures).values({ subjectId: triggerId, figure, time, minutes, value }),
    );
  const refused = (cause: RefusalCause, hour: Date, count: number) =>
    pages.services.db.transaction((tx) =>
      tx.insert(tx.tables.refusedDeliveries).values({ triggerId, cause, hour, count, organizationId: null }),
    );
  const show = async () => (await pages.member.get(`${triggersPath}/${triggerId}`)).text;
  const paths = (text: string, kind: string) =>
    [...text.matchAll(new RegExp(`<path class="${kind}" d="([^"]*)"`, "g"))].map(([, path = ""]) => path);

  it("are left out where nothing was counted", async () => {
    assert.doesNotMatch(await show(), /<figure|Refused in the last/);
    assert.match((await pages.member.get(triggersPath)).text, /<span class="quiet">none<\/span>/);
  });

  it("show the hours of a week as bars and as a table, minutes in their hour", async () => {
    await counted("deliveries_built", hoursAgo(2), 1200);
    await counted("deliveries_built", new Date(hoursAgo(2).getTime() + hourMs / 2), 34, 1);
    await counted("deliveries_filtered", hoursAgo(2), 5);
    await counted("deliveries_built", hoursAgo(167), 1);
    await counted("deliveries_built", hoursAgo(169), 1000);
    await refused("too_large", hoursAgo(0), 7);

    const text = await show();

    assert.match(
      text,
      /aria-label="Deliveries of the last 7 days by the hour: 1,235 built, 5 not run, 7 refused"/,
    );
    assert.doesNotMatch(text, />0 failed|>Undecided/);
    const rows = text.slice(text.indexOf("As a table")).split("<tr>").slice(2, 5);
    assert.match(rows[0] ?? "", /<td class="number">0<\/td><td class="number">0<\/td><td class="number">7</);
    assert.match(rows[1] ?? "", /<td class="number">1,234<\/td><td class="number">5<\/td>/);
    assert.ok(rows[1]?.includes(hoursAgo(2).toISOString()));
    assert.match(rows[2] ?? "", /<td class="number">1<\/td>/);
    const [built = ""] = paths(text, "tone-passed");
    assert.equal(built.match(/M/g)?.length, 2);
    assert.match(built, /^M0\.1 .*M165\.1 /s);
  });

  it("show refusals once a cause, the one seen last first", async () => {
    await refused("invalid_signature", hoursAgo(5), 2);
    await refused("invalid_signature", hoursAgo(3), 40);
    await refused("disabled", hoursAgo(4), 9);

    const text = await show();

    const rows = text.slice(text.indexOf("Refused in the last 7 days")).split("<tr>").slice(2);
    assert.equal(rows.length, 2);
    assert.match(
      rows[0] ?? "",
      /Signature wrong or missing.*<td class="number"[^>]*>42<.*In 2 of the last 168 hours/s,
    );
    assert.ok(rows[0]?.includes(hoursAgo(3).toISOString()));
    assert.match(rows[1] ?? "", /The trigger was disabled.*<td class="number"[^>]*>9</s);
  });

  it("say that counts lag behind deliveries", async () => {
    const { path } = await pages.acme.trigger({ label: "Fresh" });
    assert.equal((await post(pages.url + path, "{}")).status, 201);
    assert.match((await pages.member.get(triggersPath)).text, /just now.*not counted yet/s);

    await counted("deliveries_built", hoursAgo(1), 3);
    assert.match(await show(), /counts up to a minute old/);
  });

  it("are small on the list", async () => {
    await counted("deliveries_built", hoursAgo(1), 3);
    await counted("deliveries_failed", hoursAgo(30), 1);

    assert.match((await pages.member.get(triggersPath)).text, /<td[^>]*>4 <svg class="sparkline"/);
  });

  it("have at most 300 KB together, however much was counted", async () => {
    await exhibitWeek(pages, triggerId);
    for (const cause of allCauses)
      for (let ago = 0; ago < 168; ago += cause === "busy" ? 1 : 12)
        if (!["invalid_signature", "form_content_type"].includes(cause))
          await refused(cause, hoursAgo(ago), 7);

    const text = await show();

    assert.ok(text.length < 300_000, `${text.length}`);
    assert.ok(text.includes("Undecided after 10 minutes"));
  });
});
