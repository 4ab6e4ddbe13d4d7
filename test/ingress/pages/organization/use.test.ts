import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { dayMs, hourMs } from "../../../../shared/durations.ts";
import { newId } from "../../../../shared/ids.ts";
import type { FigureName } from "../../../../shared/vocabulary.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { post } from "../../../helpers/http.ts";
import { startPages } from "../../../helpers/pages.ts";
import { exhibitUse } from "../looks/figures.ts";

describeWorldOn(sqlite, "the use of an organization", startPages, (pages) => {
  before(async () => {
    const { clock } = pages;
    clock.freeze();
    // At 12:30.
    clock.advance(dayMs + dayMs / 2 + hourMs / 2 - (clock.now().getTime() % dayMs));
  });

  const read = async (path = "/organizations/acme/deliveries") =>
    (await (await pages.visitor(pages.ada)).get(path)).text;
  const counted = (figure: FigureName, hoursAgo: number, value: number, subjectId = pages.acme.id) =>
    pages.services.db.transaction((tx) =>
      tx.insert(tx.tables.figures).values({
        subjectId,
        figure,
        value,
        minutes: 60,
        time: new Date(pages.clock.now().getTime() - hoursAgo * hourMs - hourMs / 2),
      }),
    );
  const words = (html: string) => html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

  it("is left out before the first delivery", async () => {
    assert.doesNotMatch(await read(), /<figure|Hourly limit/);
  });

  it("is that of days in UTC, of its own triggers", async () => {
    await counted("deliveries_built", 12, 7);
    await counted("deliveries_filtered", 12, 2);
    await counted("deliveries_built", 13, 30);
    await counted("deliveries_built", 6 * 24 + 12, 5);
    await counted("deliveries_built", 6 * 24 + 13, 1000);
    await counted("builds_created", 12, 9);
    await counted("deliveries_built", 3, 1000, newId(pages.clock.now()));
    const { path } = await pages.acme.trigger();
    assert.equal((await post(pages.url + path, "{}")).status, 201);

    const html = await read();

    assert.match(html, /aria-label="Deliveries of the last 7 days by the day: 42 built, 2 not run"/);
    const days = [...html.matchAll(/<text class="day" x="([\d.]+)%"/g)].map(([, x]) => Math.round(Number(x)));
    assert.deepEqual(days, [7, 21, 36, 50, 64, 79, 93], "the middles of the bars");
    const builds = await read("/organizations/acme/builds");
    assert.match(builds, /aria-label="Builds of the last 7 days by the day: 9 builds"/);
    assert.match(builds, /<path class="tone-other"/, "builds of any state are counted");
    const [, , ...rows] = html.slice(html.indexOf("As a table")).split("<tr>");
    const numbers = rows.slice(0, 3).map((row) => [...row.matchAll(/"number">(\d+)</g)].map(([, n]) => n));
    assert.deepEqual(numbers, [
      ["7", "2"],
      ["30", "0"],
      ["5", "0"],
    ]);
    assert.doesNotMatch(words(html), /Hourly limit/);
    assert.match(words(html), /Busiest hour of 7 days 30 deliveries, from \w+ \d+ \w+,? (at )?23:00 UTC/);
  });

  it("is on home too once 80 % of the hourly limit is used", async () => {
    const { path } = await pages.acme.trigger();
    const { organizations } = pages.services.db.tables;
    await pages.services.db.transaction((tx) =>
      tx.update(organizations).set({ deliveriesPerHour: 5 }).where(eq(organizations.id, pages.acme.id)),
    );
    const readBoth = async () => [words(await read("/organizations/acme")), words(await read())];
    await post(pages.url + path, "{}");
    await post(pages.url + path, "{}");
    for (const html of await readBoth()) assert.doesNotMatch(html, /of 5 deliveries/);

    await post(pages.url + path, "{}");

    const [home = "", list = ""] = await readBoth();
    assert.match(home, / 4 of 5 deliveries an hour used/);
    assert.match(list, /Hourly limit 4 of 5 deliveries used/);
  });

  it("has at most 300 KB with its builds", async () => {
    await exhibitUse(pages, pages.globex.id);

    const html = await read("/organizations/globex/builds");

    assert.ok(html.includes("Builds of the last 7 days"));
    assert.ok(html.length < 300_000);
  });
});
