import assert from "node:assert/strict";
import { it } from "node:test";
import { asc, eq } from "drizzle-orm";
import { dayMs, hourMs, minuteMs } from "../../shared/durations.ts";
import { openDueSchedules } from "../../shared/schedules/due.ts";
import { nextBuildAfter } from "../../shared/schedules/schedules.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("schedules that are due", openApi, (api) => {
  const newSchedule = async (schedule: object, pipeline: object = {}) => {
    const { id, slug } = await api.newPipeline(pipeline);
    const at = `/pipelines/${slug}/schedules`;
    const { status, body, text } = await api.send("POST", at, {
      body: { cronline: "0 * * * *", ...schedule },
    });
    assert.equal(status, 201, text);
    const read = async () => (await api.send("GET", `${at}/${body.id}`)).body;
    return { pipelineId: id, slug, at, id: body.id as string, read };
  };
  /** The clock of the test stands at a whole hour and so many minutes. */
  const goTo = (time: Date) => {
    const { clock } = api.world;
    clock.freeze();
    clock.advance(time.getTime() - clock.now().getTime());
  };
  const nextHour = () => nextBuildAfter("0 * * * *", api.world.clock.now()) as Date;
  const look = async (workers = 1, isClockRight = true) => {
    const opened = Array.from({ length: workers }, () =>
      openDueSchedules(api.world.services, async () => isClockRight),
    );
    for (const each of opened) each.wake();
    await Promise.all(opened.map((each) => each.idle()));
    await Promise.all(opened.map((each) => each.close()));
  };
  const buildsOf = (pipelineId: string) => {
    const { builds } = api.world.services.db.tables;
    return api.world.services.db
      .select()
      .from(builds)
      .where(eq(builds.pipelineId, pipelineId))
      .orderBy(asc(builds.number));
  };

  it("make one build each, whatever workers look", async () => {
    const made = await newSchedule({ label: "Hourly", env: { STAGE: "beta" }, branch: "dev", commit: "abc" });
    const dueAt = nextHour();
    await look();
    assert.equal((await buildsOf(made.pipelineId)).length, 0);

    goTo(dueAt);
    await look(3);
    await look(3);

    const [build, ...more] = await buildsOf(made.pipelineId);
    assert.deepEqual(more, []);
    assert.deepEqual(
      [build?.source, build?.branch, build?.commit, build?.message, build?.scheduledFor, build?.creatorId],
      ["schedule", "dev", "abc", "Scheduled: Hourly", dueAt, api.admin.id],
    );
    const { env, source } = (await api.send("GET", `/pipelines/${made.slug}/builds/1`)).body;
    assert.deepEqual([env.STAGE, source], ["beta", "schedule"]);
    const { next_build_at, failed_at } = await made.read();
    assert.deepEqual([next_build_at, failed_at], [new Date(dueAt.getTime() + hourMs).toISOString(), null]);

    goTo(new Date(dueAt.getTime() + hourMs));
    await look();
    assert.equal((await buildsOf(made.pipelineId)).length, 2);
  });

  it("make up the last of the times that passed within an hour, and leave out older ones", async () => {
    const often = await newSchedule({ cronline: "*/10 * * * *" });
    const hourly = await newSchedule({});
    const daily = await newSchedule({ cronline: "@daily" });
    const { clock } = api.world;
    goTo(new Date((nextBuildAfter("@daily", clock.now()) as Date).getTime() + 59 * minuteMs));
    await look();
    assert.equal((await buildsOf(daily.pipelineId)).length, 1);
    for (const { pipelineId } of [often, hourly])
      assert.ok((await buildsOf(pipelineId)).length <= 1, "one at most, of several times");

    goTo(new Date((nextBuildAfter("@daily", clock.now()) as Date).getTime() + 61 * minuteMs));
    await look();
    assert.equal((await buildsOf(daily.pipelineId)).length, 1);
    const { failed_message, failed_at, next_build_at } = await daily.read();
    assert.match(failed_message, /^Nothing made a build at .*T00:00:00\.000Z, over an hour ago/);
    assert.equal(failed_at, clock.now().toISOString());
    assert.ok(Date.parse(next_build_at) > clock.now().getTime());

    await api.send("PUT", `${daily.at}/${daily.id}`, { body: { enabled: false } });
    await api.send("PUT", `${daily.at}/${daily.id}`, { body: { enabled: true } });
    assert.deepEqual([(await daily.read()).failed_message, (await daily.read()).failed_at], [null, null]);
  });

  it("build nothing while the clock is in doubt, the pipeline archived, or the schedule off", async () => {
    const doubted = await newSchedule({});
    const archived = await newSchedule({});
    const off = await newSchedule({ enabled: false });
    await api.send("POST", `/pipelines/${archived.slug}/archive`);
    goTo(nextHour());

    await look(1, false);
    assert.equal((await buildsOf(doubted.pipelineId)).length, 0);
    await look();

    assert.equal((await buildsOf(doubted.pipelineId)).length, 1);
    for (const { pipelineId, read } of [archived, off]) {
      assert.equal((await buildsOf(pipelineId)).length, 0);
      assert.equal((await read()).failed_at, null);
    }
    await api.send("POST", `/pipelines/${archived.slug}/unarchive`);
    goTo(nextHour());
    await look();
    assert.equal((await buildsOf(archived.pipelineId)).length, 1);
  });

  it("say why they could not build, until they do", async () => {
    const made = await newSchedule({ branch: "dev" }, { branch_configuration: "main" });
    goTo(nextHour());
    await look();
    assert.equal((await buildsOf(made.pipelineId)).length, 0);
    const failed = await made.read();
    assert.match(failed.failed_message, /Branch dev is not among those that the pipeline builds/);

    await api.send("PATCH", `${made.at}/${made.id}`, { body: { branch: "main" } });
    goTo(nextHour());
    await look();
    assert.equal((await buildsOf(made.pipelineId)).length, 1);
    assert.equal((await made.read()).failed_message, null);
  });

  it("end with their pipeline", async () => {
    const made = await newSchedule({});
    assert.equal((await api.send("DELETE", `/pipelines/${made.slug}`)).status, 204);
    goTo(new Date(nextHour().getTime() + dayMs));
    await look();
    assert.equal((await buildsOf(made.pipelineId)).length, 0);
  });
});
