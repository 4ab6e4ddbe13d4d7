import assert from "node:assert/strict";
import { it } from "node:test";
import { dayMs, hourMs, minuteMs } from "../../shared/durations.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openSchedules } from "./open-schedules.ts";

describeWorld("schedules that are due", openSchedules, (api) => {
  it("make one build each, whatever workers look", async () => {
    const made = await api.newSchedule({
      label: "Hourly",
      env: { STAGE: "beta" },
      branch: "dev",
      commit: "abc",
    });
    const dueAt = api.nextHour();
    await api.look();
    assert.equal((await api.buildsOf(made.pipelineId)).length, 0);

    api.goTo(dueAt);
    await api.look(3);
    await api.look(3);

    const [build, ...more] = await api.buildsOf(made.pipelineId);
    assert.deepEqual(more, []);
    assert.deepEqual(
      [build?.source, build?.branch, build?.commit, build?.message, build?.scheduledFor, build?.creatorId],
      ["schedule", "dev", "abc", "Scheduled: Hourly", dueAt, api.admin.id],
    );
    const { env, source } = (await api.send("GET", `/pipelines/${made.slug}/builds/1`)).body;
    assert.deepEqual([env.STAGE, source], ["beta", "schedule"]);
    const { next_build_at, failed_at } = await made.read();
    assert.deepEqual([next_build_at, failed_at], [new Date(dueAt.getTime() + hourMs).toISOString(), null]);

    api.goTo(new Date(dueAt.getTime() + hourMs));
    await api.look();
    assert.equal((await api.buildsOf(made.pipelineId)).length, 2);
  });

  it("make up the last of the times that passed within an hour, and leave out older ones", async () => {
    const often = await api.newSchedule({ cronline: "*/10 * * * *" });
    const hourly = await api.newSchedule({});
    const daily = await api.newSchedule({ cronline: "@daily" });
    const { clock } = api.world;
    api.goTo(new Date(api.next("@daily").getTime() + 59 * minuteMs));
    await api.look();
    assert.equal((await api.buildsOf(daily.pipelineId)).length, 1);
    for (const { pipelineId } of [often, hourly])
      assert.ok((await api.buildsOf(pipelineId)).length <= 1, "one at most, of several times");

    api.goTo(new Date(api.next("@daily").getTime() + 61 * minuteMs));
    await api.look();
    assert.equal((await api.buildsOf(daily.pipelineId)).length, 1);
    const { failed_message, failed_at, next_build_at } = await daily.read();
    assert.match(failed_message, /^Nothing made a build at .*T00:00:00\.000Z, over an hour ago/);
    assert.equal(failed_at, clock.now().toISOString());
    assert.ok(Date.parse(next_build_at) > clock.now().getTime());

    await api.send("PUT", `${daily.at}/${daily.id}`, { body: { enabled: false } });
    await api.send("PUT", `${daily.at}/${daily.id}`, { body: { enabled: true } });
    assert.deepEqual([(await daily.read()).failed_message, (await daily.read()).failed_at], [null, null]);
  });

  it("build nothing while the clock is in doubt, the pipeline archived, or the schedule off", async () => {
    const doubted = await api.newSchedule({});
    const archived = await api.newSchedule({});
    const off = await api.newSchedule({ enabled: false });
    await api.send("POST", `/pipelines/${archived.slug}/archive`);
    api.goTo(api.nextHour());

    await api.look(1, false);
    assert.equal((await api.buildsOf(doubted.pipelineId)).length, 0);
    await api.look();

    assert.equal((await api.buildsOf(doubted.pipelineId)).length, 1);
    for (const { pipelineId, read } of [archived, off]) {
      assert.equal((await api.buildsOf(pipelineId)).length, 0);
      assert.equal((await read()).failed_at, null);
    }
    await api.send("POST", `/pipelines/${archived.slug}/unarchive`);
    api.goTo(api.nextHour());
    await api.look();
    assert.equal((await api.buildsOf(archived.pipelineId)).length, 1);
  });

  it("say why they could not build, until they do", async () => {
    const made = await api.newSchedule({ branch: "dev" }, { branch_configuration: "main" });
    api.goTo(api.nextHour());
    await api.look();
    assert.equal((await api.buildsOf(made.pipelineId)).length, 0);
    const failed = await made.read();
    assert.match(failed.failed_message, /Branch dev is not among those that the pipeline builds/);

    await api.send("PATCH", `${made.at}/${made.id}`, { body: { branch: "main" } });
    api.goTo(api.nextHour());
    await api.look();
    assert.equal((await api.buildsOf(made.pipelineId)).length, 1);
    assert.equal((await made.read()).failed_message, null);
  });

  it("end with their pipeline", async () => {
    const made = await api.newSchedule({});
    assert.equal((await api.send("DELETE", `/pipelines/${made.slug}`)).status, 204);
    api.goTo(new Date(api.nextHour().getTime() + dayMs));
    await api.look();
    assert.equal((await api.buildsOf(made.pipelineId)).length, 0);
  });
});
