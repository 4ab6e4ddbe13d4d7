import assert from "node:assert/strict";
import { it } from "node:test";
import { samplingId } from "../../../../shared/dispatch/figures.ts";
import { pauseDispatch, resumeDispatch } from "../../../../shared/dispatch/pause.ts";
import { hourMs, minuteMs } from "../../../../shared/durations.ts";
import { createQueue } from "../../../../shared/queues/queues.ts";
import type { FigureName } from "../../../../shared/vocabulary.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { startQueuePagesAtHalfPast } from "../../../helpers/pages.ts";
import { exhibitQueue } from "../looks/figures.ts";

describeWorld("the charts of a queue", startQueuePagesAtHalfPast, (pages) => {
  const newQueue = (key: string) => createQueue(pages.services, pages.actor, pages.acme.cluster, { key });
  const show = async ({ id, clusterId }: { id: string; clusterId: string }) => {
    const bob = await pages.visitor(pages.bob);
    return (await bob.get(`/organizations/acme/clusters/${clusterId}/queues/${id}`)).text;
  };
  const shades = (text: string) =>
    [...text.matchAll(/class="shade" x="([\d.]+)%" y="\d+" width="([\d.]+)%"/g)].map((match) =>
      match.slice(1).map((each) => Math.round(Number(each))),
    );

  it("are left out before the first sample", async () => {
    assert.doesNotMatch(await show(await newQueue("new")), /<figure/);
  });

  it("show a day by ten minutes and a week by the hour, the most of each", async () => {
    const queue = await newQueue("used");
    const { figures } = pages.services.db.tables;
    const ago = (minutes: number) => new Date(pages.clock.now().getTime() - (3 + minutes) * minuteMs);
    const sample = (minutes: number, value: number) =>
      ({ subjectId: queue.id, figure: "jobs_waiting", time: ago(minutes), minutes: 10, value }) as const;
    await pages.services.db.transaction((tx) =>
      tx.insert(figures).values([sample(0, 4), sample(10, 9), sample(20, 2), sample(26 * 60, 50)]),
    );

    const [, day = "", week = ""] = (await show(queue)).split("<figure");

    const values = (figure: string) =>
      [...figure.matchAll(/<\/th><td class="number">(\d+)</g)].map(([, value]) => Number(value));
    assert.deepEqual(values(day), [4, 9, 2]);
    assert.deepEqual(values(week), [9, 50]);
    assert.match(day, /aria-label="The last 24 hours: jobs waiting: at most 9, jobs running: at most 0/);
  });

  it("have a gap where no worker sampled, and none where it saw nothing", async () => {
    const queue = await newQueue("gaps");
    const ago = (minutes: number) => new Date(pages.clock.now().getTime() - (3 + minutes) * minuteMs);
    const row = (subjectId: string, figure: FigureName, minutes: number, ofMinutes: number) => ({
      subjectId,
      figure,
      time: ago(minutes),
      minutes: ofMinutes,
      value: 1,
    });
    const isDown = (at: number) => at >= 72 && at < 108;
    const samples = [...Array(160).keys()].flatMap((at) =>
      isDown(at) ? [] : row(samplingId, "queues_sampled", at * 10, 10),
    );
    for (let hours = 27; hours < 168; hours++)
      samples.push(row(samplingId, "queues_sampled", hours * 60 + 30, 60));
    await pages.services.db.transaction((tx) =>
      tx.insert(tx.tables.figures).values([...samples, row(queue.id, "jobs_waiting", 90 * 10, 10)]),
    );

    const [, day = "", week = ""] = (await show(queue)).split("<figure");

    const gaps = [...day.matchAll(/class="gap" x="([\d.]+)%" y="\d+" width="([\d.]+)%"/g)];
    assert.deepEqual(
      gaps.map((gap) => gap.slice(1).map((each) => Math.round((Number(each) * 144) / 100))),
      [
        [36, 17],
        [54, 18],
      ],
      "on both sides of the one time that had work",
    );
    assert.match(day, /aria-label="[^"]*agents connected: at most 0\. Not sampled from /);
    const [line = ""] = /<path class="line tone-runs" d="[^"]*"/.exec(day) ?? [];
    assert.equal(line.match(/M/g)?.length, 3, "each line ends at the gap");
    assert.equal(week.match(/class="gap" x=/g)?.length, 2);
  });

  it("shade the pauses, also one that lasts", async () => {
    const queue = await newQueue("shaded");
    const { services, actor, clock } = pages;
    await pauseDispatch(services, actor, queue, null);
    clock.advance(6 * hourMs);
    await resumeDispatch(services, actor, queue);
    clock.advance(12 * hourMs);
    await pauseDispatch(services, actor, queue, null);
    clock.advance(6 * hourMs);
    const { figures } = services.db.tables;
    const row = {
      subjectId: queue.id,
      figure: "jobs_waiting",
      time: clock.now(),
      minutes: 60,
      value: 1,
    } as const;
    await services.db.transaction((tx) => tx.insert(figures).values(row));

    const [, day = "", week = ""] = (await show(queue)).split("<figure");

    assert.deepEqual(shades(day), [
      [0, 25],
      [75, 25],
    ]);
    assert.equal(shades(week).length, 2);
  });

  it("say how long jobs waited, in the day and in the week", async () => {
    const queue = await newQueue("slow");
    const counted = (figure: FigureName, hoursAgo: number, value: number) => ({
      subjectId: queue.id,
      figure,
      minutes: 60,
      value,
      time: new Date(pages.clock.now().getTime() - hoursAgo * hourMs),
    });
    await pages.services.db.transaction((tx) =>
      tx
        .insert(tx.tables.figures)
        .values([counted("waited_5", 2, 19), counted("waited_60", 2, 1), counted("waited_longer", 50, 2000)]),
    );

    const text = (await show(queue)).replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

    assert.match(text, /the last 24 hours 20 5 s 5 s the last 7 days 2,020 more than 1 d more than 1 d/);
  });

  it("have at most 300 KB together", async () => {
    const queue = await newQueue("busy");
    await exhibitQueue(pages, queue);

    assert.ok((await show(queue)).length < 300_000);
  });
});
