import assert from "node:assert/strict";
import { before, beforeEach, it } from "node:test";
import { buildFigures } from "../../shared/builds/keeping/figures.ts";
import { dayMs, hourMs, hourOf, minuteMs } from "../../shared/durations.ts";
import { oldFigures } from "../../shared/figures/hours.ts";
import { type FigureSource, rollUp } from "../../shared/figures/roll-up.ts";
import { listFigures } from "../../shared/figures/store.ts";
import { newId } from "../../shared/ids.ts";
import { purgeAll } from "../../shared/retention/expiring.ts";
import { deliveryFigures } from "../../shared/triggers/deliveries/figures.ts";
import type { FigureName } from "../../shared/vocabulary.ts";
import { decide } from "../helpers/builds.ts";
import { describeWorld } from "../helpers/databases.ts";
import { post } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";

describeWorld("figures", startWorld, (world, database) => {
  /** Times at which something happened to a subject of its own a test. */
  let happened: { at: Date; figure: FigureName }[];
  let source: FigureSource;
  let subjectId: string;
  let counted: Date[];

  before(() => world.clock.freeze());
  beforeEach(() => {
    // Half past, so that no test passes an hour without meaning to.
    const { clock } = world;
    clock.advance(hourMs + hourMs / 2 - (clock.now().getTime() % hourMs));
    happened = [];
    counted = [];
    subjectId = newId(clock.now());
    source = {
      name: subjectId,
      figures: ["deliveries_built", "deliveries_undecided"],
      async findNext(_db, from) {
        const times = happened.map(({ at }) => at).filter((at) => at >= from);
        return times.sort((a, b) => a.getTime() - b.getTime())[0];
      },
      async count(_db, from, to) {
        counted.push(from);
        const within = happened.filter(({ at }) => at >= from && at < to);
        return [...Map.groupBy(within, ({ figure }) => figure)].map(([figure, all]) => ({
          subjectId,
          figure,
          value: all.length,
        }));
      },
    };
  });

  const ago = (ms: number) => new Date(world.clock.now().getTime() - ms);
  const happen = (at: Date, figure: FigureName = "deliveries_built") => happened.push({ at, figure });
  const run = (limits = {}) => rollUp(world.services, source, limits);
  const stored = async () => {
    const { figures } = world.services.db.tables;
    const rows = await world.services.db.select().from(figures);
    return rows
      .filter((row) => row.subjectId === subjectId)
      .map(({ time, figure, minutes, value }) => [
        Math.floor((world.clock.now().getTime() - time.getTime()) / minuteMs),
        figure.replace("deliveries_", ""),
        minutes,
        value,
      ])
      .sort((a, b) => Number(a[0]) - Number(b[0]) || `${a[1]}`.localeCompare(`${b[1]}`));
  };

  it("count each minute once, however often they are counted", async () => {
    happen(ago(minuteMs));
    happen(ago(minuteMs));
    happen(ago(3 * minuteMs), "deliveries_undecided");
    await run();
    await Promise.all([run(), run()]);

    assert.deepEqual(await stored(), [
      [1, "built", 1, 2],
      [3, "undecided", 1, 1],
    ]);
  });

  it("follow what commits or is decided within ten minutes", async () => {
    happen(ago(5 * minuteMs), "deliveries_undecided");
    happen(ago(0));
    await run();
    happened = [];
    happen(ago(5 * minuteMs));
    happen(ago(9 * minuteMs));
    happen(ago(0));
    happen(ago(0));
    await run();

    assert.deepEqual(await stored(), [
      [0, "built", 1, 2],
      [5, "built", 1, 1],
      [5, "undecided", 1, 0],
      [9, "built", 1, 1],
    ]);
  });

  it("leave out what commits later than that", async () => {
    happen(ago(0));
    await run();
    happen(ago(12 * minuteMs));
    await run();

    assert.deepEqual(await stored(), [[0, "built", 1, 1]]);
  });

  it("become hours once they no longer change", async () => {
    for (const minutes of [35, 50, 85, 95]) happen(ago(minutes * minuteMs));
    happen(ago(35 * minuteMs), "deliveries_undecided");
    await run();
    assert.deepEqual(await stored(), [
      [35, "built", 1, 1],
      [35, "undecided", 1, 1],
      [50, "built", 1, 1],
      [85, "built", 1, 1],
      [150, "built", 60, 1],
    ]);

    world.clock.advance(hourMs);
    await Promise.all([run(), run()]);
    await run();
    assert.deepEqual(await stored(), [
      [150, "built", 60, 3],
      [150, "undecided", 60, 1],
      [210, "built", 60, 1],
    ]);
  });

  it("catch up in bounded steps, and go on where they stopped", async () => {
    happen(ago(0));
    await run();
    world.clock.advance(dayMs);
    for (let hour = 1; hour <= 20; hour++) happen(ago(hour * hourMs));
    happen(ago(minuteMs));

    counted = [];

    for (const seen of [8, 16, 24, 25]) {
      await run({ maxMinutes: 8 });
      assert.equal(counted.length, seen);
    }
    const rows = await listFigures(world.services.db, [subjectId], ago(2 * dayMs));
    assert.equal(
      rows.reduce((sum, { value }) => sum + value, 0),
      22,
    );
  });

  it("are written by one run at a time", async () => {
    happen(ago(minuteMs));
    const overtaking = { ...source, count: () => run().then(() => []) };
    await rollUp(world.services, overtaking);

    assert.deepEqual(await stored(), [[1, "built", 1, 1]]);
  });

  it("are purged after eight days", async () => {
    happen(ago(2 * hourMs));
    happen(ago(0));
    await run();
    world.clock.advance(2 * hourMs);
    await run();
    const purged = async () => {
      await purgeAll(world.services, oldFigures(source.figures));
      return (await stored()).length;
    };

    world.clock.advance(8 * dayMs - 3 * hourMs);
    assert.equal(await purged(), 1);
    world.clock.advance(2 * hourMs);
    assert.equal(await purged(), 0);
  });

  it("are those of deliveries that came and were decided, and of builds", async () => {
    const acme = await setUpOrganization(world, `acme-${database.dialect}`);
    const { path, id } = await acme.trigger();
    const deliver = async () => (await post(world.url + path, "{}")).body.id as string;
    const ids = [await deliver(), await deliver(), await deliver()];
    await decide(world.services, ids.slice(1));

    const other = await acme.trigger();
    await post(world.url + other.path, "{}");

    await rollUp(world.services, deliveryFigures);
    await rollUp(world.services, buildFigures);

    const figuresOf = async (subject: string) => {
      const rows = await listFigures(world.services.db, [subject], hourOf(ago(0)));
      return rows.map(({ figure, value }) => [figure, value]).sort();
    };
    assert.deepEqual(await figuresOf(id), [
      ["deliveries_built", 2],
      ["deliveries_undecided", 1],
    ]);
    assert.deepEqual(await figuresOf(acme.id), [
      ["builds_created", 2],
      ["deliveries_built", 2],
      ["deliveries_undecided", 2],
    ]);
  });
});
