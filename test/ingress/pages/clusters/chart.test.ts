import assert from "node:assert/strict";
import { it } from "node:test";
import { minuteMs } from "../../../../shared/durations.ts";
import { createQueue } from "../../../../shared/queues/queues.ts";
import type { FigureName } from "../../../../shared/vocabulary.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePagesAtHalfPast } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the chart of a cluster", startQueuePagesAtHalfPast, (pages) => {
  const show = async (page = "") =>
    (await (await pages.visitor(pages.bob)).get(pages.paths.cluster + page)).text;
  const sample = (subjectId: string, figure: FigureName, minutesAgo: number, value: number) =>
    pages.services.db.transaction((tx) =>
      tx.insert(tx.tables.figures).values({
        subjectId,
        figure,
        value,
        minutes: 10,
        time: new Date(pages.clock.now().getTime() - (3 + minutesAgo) * minuteMs),
      }),
    );
  const newQueue = (key: string) => {
    // Queues are listed by time.
    pages.clock.advance(1);
    return createQueue(pages.services, pages.actor, pages.acme.cluster, { key });
  };

  it("is left out before the first sample", async () => {
    assert.doesNotMatch(await show(), /<figure/);
  });

  it("is the sum of its queues", async () => {
    const other = await newQueue("other");
    await sample(pages.acme.queue.id, "jobs_waiting", 10, 4);
    await sample(other.id, "jobs_waiting", 10, 3);
    await sample(other.id, "jobs_waiting", 20, 1);
    await sample(other.id, "agents_connected", 20, 2);
    await sample(other.id, "jobs_waiting", 25 * 60, 100);

    const html = await show();

    assert.match(
      html,
      /aria-label="The last 24 hours: jobs waiting: at most 7, .* agents connected: at most 2/,
    );
    const table = html.slice(html.indexOf("As a table"));
    assert.deepEqual(
      [...table.matchAll(/<\/th><td class="number">(\d+)</g)].map(([, value]) => value),
      ["7", "1"],
    );
    assert.match(html, /The sum of all queues/);
  });

  it("is that of the queues on the page", async () => {
    for (let made = 0; made < 30; made++) await newQueue(`more-${made}`);
    const last = await newQueue("last");
    await sample(last.id, "jobs_waiting", 10, 50);

    const highest = async (page: string) => /jobs waiting: at most (\d+)/.exec(await show(page))?.[1];
    assert.deepEqual([await highest(""), await highest("?page=2")].sort(), ["50", "7"]);
    assert.match(await show(), /The sum of the queues on this page/);
  });
});
