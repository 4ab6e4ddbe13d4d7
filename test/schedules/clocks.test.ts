import assert from "node:assert/strict";
import { it } from "node:test";
import { dayMs, hourMs, minuteMs, secondMs } from "../../shared/durations.ts";
import { updateSchedule } from "../../shared/schedules/store.ts";
import { describeWorld } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { openSchedules } from "./open-schedules.ts";

describeWorld("schedules while the clock or the database jumps", openSchedules, (api) => {
  const put = (made: { at: string; id: string }, body: object) =>
    api.send("PUT", `${made.at}/${made.id}`, { body });

  it("make up the last time of the past hour, however long nothing ran", async () => {
    for (const away of [80 * minuteMs, dayMs + 20 * minuteMs]) {
      const hourly = await api.newSchedule({});
      const often = await api.newSchedule({ cronline: "*/10 * * * *" });
      const daily = await api.newSchedule({ cronline: "@daily" });
      const half = await api.newSchedule({ cronline: "10 */2 * * *" });
      const now = (Math.floor(Number(api.next("@daily")) / dayMs) * dayMs + away) as number;
      api.goTo(now);

      await api.look(2);
      await api.look(2);

      const hour = Math.floor(now / hourMs) * hourMs;
      assert.deepEqual(await api.timesOf(hourly.pipelineId), [hour]);
      assert.deepEqual(await api.timesOf(often.pipelineId), [now]);
      for (const { pipelineId, read } of [hourly, often]) {
        const { failed_at, next_build_at } = await read();
        assert.deepEqual([failed_at, Date.parse(next_build_at) > now], [null, true]);
        assert.equal((await api.buildsOf(pipelineId)).length, 1);
      }
      const left = away < dayMs ? [daily, half] : [];
      for (const { pipelineId, read } of left) {
        assert.deepEqual(await api.timesOf(pipelineId), []);
        assert.match((await read()).failed_message, /over an hour ago/);
      }
    }
  });

  it("make no second build of a time to which the clock comes again", async () => {
    const made = await api.newSchedule({});
    const dueAt = Number(api.nextHour());
    api.goTo(dueAt);
    await api.look();

    // Another process has a clock that is half a second behind.
    api.goTo(dueAt - 500);
    await put(made, { enabled: false });
    const again = await put(made, { enabled: true });
    assert.equal(again.body.next_build_at, new Date(dueAt).toISOString());
    for (const at of [dueAt, dueAt + 2 * hourMs - secondMs]) {
      api.goTo(at);
      await api.look();
      const { failed_at, next_build_at } = await made.read();
      assert.deepEqual([failed_at, Date.parse(next_build_at) > at], [null, true]);
    }

    assert.deepEqual(await api.timesOf(made.pipelineId), [dueAt, dueAt + hourMs]);
  });

  it("say nothing of a time that was built, when the clock comes to it again long after", async () => {
    const made = await api.newSchedule({ cronline: "@daily" });
    const dueAt = Number(api.next("@daily"));
    api.goTo(dueAt);
    await api.look();

    api.goTo(dueAt - minuteMs);
    await put(made, { enabled: false });
    await put(made, { enabled: true });
    api.goTo(dueAt + 2 * hourMs);
    await api.look();

    assert.deepEqual(await api.timesOf(made.pipelineId), [dueAt]);
    assert.equal((await made.read()).failed_at, null);
  });

  it("build at their next times once a clock that was a day ahead is right again", async () => {
    const made = await api.newSchedule({});
    let isRight = true;
    const worker = api.openWorker(() => isRight);
    const start = Number(api.nextHour()) + minuteMs;
    const lookAt = async (at: number) => {
      api.goTo(at);
      await worker.look();
    };
    await lookAt(start);
    await lookAt(start + dayMs);
    const ahead = await api.timesOf(made.pipelineId);
    isRight = false;
    await lookAt(start + minuteMs);
    assert.ok(Date.parse((await made.read()).next_build_at) > start + dayMs, "the clock is in doubt");

    isRight = true;
    await lookAt(start + 2 * minuteMs);
    await lookAt(start + hourMs);
    await lookAt(start + 2 * hourMs);
    await worker.close();

    const hours = [0, 1, 2].map((hour) => start - minuteMs + hour * hourMs);
    const times = [...(await api.timesOf(made.pipelineId))].sort();
    assert.deepEqual(times, [...hours, start - minuteMs + dayMs].sort());
    assert.equal(ahead.length, 2);
    assert.equal((await made.read()).failed_at, null);
  });

  it("build at their next times if workers start only after a clock that was ahead is right again", async () => {
    const made = await api.newSchedule({});
    const start = Number(api.nextHour());
    for (const at of [start, start + dayMs]) {
      api.goTo(at);
      await api.look();
    }
    api.goTo(start + minuteMs);
    await api.look(1, false);
    assert.ok(Date.parse((await made.read()).next_build_at) > start + dayMs, "the clock is in doubt");

    for (const at of [start + minuteMs, start + hourMs, start + 2 * hourMs]) {
      api.goTo(at);
      await api.look(2);
    }

    const times = (await api.timesOf(made.pipelineId)).map((time) => (Number(time) - start) / hourMs);
    assert.deepEqual(times, [0, 24, 1, 2]);
  });

  it("build those that fall due while the others find their next times again", async () => {
    const { services } = api.world;
    await api.look();
    const [late, due] = [await api.newSchedule({}), await api.newSchedule({})];
    const nextBuildAt = new Date(Number(api.nextHour()) + dayMs);
    await services.db.transaction((tx) => updateSchedule(tx, late.id, { nextBuildAt }));
    const begun = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    let isFirst = true;
    const transaction: typeof services.db.transaction = async (work) => {
      const holds = isFirst;
      isFirst = false;
      begun.resolve();
      if (holds) await over.promise;
      return services.db.transaction(work);
    };
    const worker = api.openWorker(() => true, { ...services, db: { ...services.db, transaction } });
    const looked = [worker.look()];
    await begun.promise;

    const dueAt = Number(api.nextHour());
    api.goTo(dueAt);
    looked.push(worker.look());
    await eventually("its build", async () => (await api.timesOf(due.pipelineId)).length > 0);
    over.resolve();
    await Promise.all(looked);
    await worker.close();

    assert.deepEqual(await api.timesOf(due.pipelineId), [dueAt]);
    assert.equal((await late.read()).next_build_at, new Date(dueAt + hourMs).toISOString());
  });

  it("build each time once when the clock goes back an hour", async () => {
    const made = await api.newSchedule({ cronline: "*/30 * * * *" });
    const worker = api.openWorker();
    const start = Number(api.nextHour());
    for (const at of [0, 30, 60, 0, 30, 60, 90, 30, 120]) {
      api.goTo(start + at * minuteMs);
      await worker.look();
    }
    await worker.close();

    const built = (await api.timesOf(made.pipelineId)).map((time) => (Number(time) - start) / minuteMs);
    assert.deepEqual(built, [0, 30, 60, 90, 120]);
  });

  it("build nothing of the day on which they were off", async () => {
    const made = await api.newSchedule({});
    await put(made, { enabled: false });
    const on = Number(api.nextHour()) + dayMs + 20 * minuteMs;
    api.goTo(on);
    await put(made, { enabled: true });
    await api.look();
    assert.deepEqual(await api.timesOf(made.pipelineId), []);

    api.goTo(on + 40 * minuteMs);
    await api.look();
    assert.deepEqual(await api.timesOf(made.pipelineId), [on + 40 * minuteMs]);
  });
});
