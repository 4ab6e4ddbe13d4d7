import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { removeMember } from "../../shared/accounts/members.ts";
import type { Db, Tx } from "../../shared/db/database.ts";
import { minuteMs } from "../../shared/durations.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import { addPerson } from "../helpers/organization.ts";
import { openSchedules } from "./open-schedules.ts";

const open = withSettings(openSchedules, { SCHEDULES_PER_PIPELINE: "100" });

describeWorld("schedules against all odds", open, (api) => {
  it("build once each, a hundred of one pipeline in the same minute", async () => {
    const { slug, at, pipelineId } = await api.newSchedule({ label: "0" });
    for (let made = 1; made < 100; made++)
      await api.send("POST", at, { body: { label: String(made), cronline: "0 * * * *" } });
    assert.equal((await api.send("POST", at, { body: { cronline: "@daily" } })).status, 422);
    api.goTo(api.nextHour());

    await api.look(3);

    const messages = (await api.buildsOf(pipelineId)).map(({ message }) => message);
    const expected = Array.from({ length: 100 }, (_, index) => `Scheduled: ${index}`);
    assert.deepEqual(messages.sort(), expected.sort());
    assert.equal((await api.send("DELETE", `/pipelines/${slug}/schedules/x`)).status, 404);
    await api.send("POST", `/pipelines/${slug}/archive`);
  });

  it("build after a worker was killed with its builds inserted", async () => {
    const made = await api.newSchedule({});
    api.goTo(api.nextHour());
    const { services } = api.world;
    const transaction: Db["transaction"] = (work) =>
      services.db.transaction(async (tx: Tx) => {
        await work(tx);
        throw new Error("killed");
      });
    const worker = api.openWorker(() => true, {
      ...services,
      db: Object.create(services.db, { transaction: { value: transaction } }),
    });
    await worker.look();
    await worker.close();
    assert.deepEqual(await api.timesOf(made.pipelineId), []);

    await api.look();

    assert.equal((await api.buildsOf(made.pipelineId)).length, 1);
  });

  it("build once if their pipeline is archived and taken back before a worker looks", async () => {
    const made = await api.newSchedule({});
    const dueAt = Number(api.nextHour());
    api.goTo(dueAt);
    for (const change of ["archive", "unarchive"])
      await api.send("POST", `/pipelines/${made.slug}/${change}`);
    await api.look(2);
    assert.deepEqual(await api.timesOf(made.pipelineId), [dueAt]);

    api.goTo(dueAt + 60 * minuteMs);
    await api.send("POST", `/pipelines/${made.slug}/archive`);
    await api.look();
    await api.send("POST", `/pipelines/${made.slug}/unarchive`);
    await api.look();
    assert.deepEqual(await api.timesOf(made.pipelineId), [dueAt], "its schedules rested then");
  });

  it("go on beside earlier ones of the organization that bring errors, which are tried again", async () => {
    const { services } = api.world;
    const { pipelines } = services.db.tables;
    const putSteps = (id: string, steps: unknown) =>
      services.db.transaction(async (tx) => {
        await tx
          .update(pipelines)
          .set({ steps: steps as never })
          .where(eq(pipelines.id, id));
      });
    const broken = [];
    for (let made = 0; made < 5; made++) broken.push(await api.newSchedule({}));
    const [{ steps } = { steps: [] }] = await services.db
      .select()
      .from(pipelines)
      .where(eq(pipelines.id, broken[0]?.pipelineId ?? ""));
    const sound = await api.newSchedule({ cronline: "5 * * * *" });
    for (const { pipelineId } of broken) await putSteps(pipelineId, [null]);
    const dueAt = Number(api.nextHour());
    api.goTo(dueAt + 5 * minuteMs);

    await api.look();

    assert.equal((await api.buildsOf(sound.pipelineId)).length, 1);
    for (const { read } of broken) {
      const { failed_at, failed_message, next_build_at } = await read();
      assert.equal(failed_at, new Date(dueAt + 5 * minuteMs).toISOString());
      assert.match(failed_message, /^An error kept the build from being made/);
      assert.equal(Date.parse(next_build_at), dueAt);
    }
    for (const { pipelineId } of broken) await putSteps(pipelineId, steps);
    await api.look();
    assert.deepEqual(await api.timesOf(broken[0]?.pipelineId ?? ""), [], "it rests");
    api.goTo(dueAt + 6 * minuteMs);
    await api.look();
    for (const { pipelineId, read } of broken) {
      assert.deepEqual(await api.timesOf(pipelineId), [dueAt]);
      assert.equal((await read()).failed_at, null);
    }
  });

  it("go on when who made them has left", async () => {
    const leaver = await addPerson(api.world, api.acme, "admin");
    const { slug, id: pipelineId } = await api.newPipeline();
    const at = `/pipelines/${slug}/schedules`;
    const token = await api.tokenOf(leaver);
    const { body: made } = await api.send("POST", at, { body: { cronline: "0 * * * *" }, token });
    await removeMember(api.world.services, { organization: "acme", email: leaver.email });
    api.goTo(api.nextHour());

    await api.look();

    assert.equal((await api.buildsOf(pipelineId)).length, 1);
    assert.equal((await api.send("GET", `${at}/${made.id}`)).body.failed_at, null);
    const { status, body } = await api.send("GET", `/pipelines/${slug}/builds/1`);
    assert.deepEqual([status, body.source, body.creator.id], [200, "schedule", leaver.id]);
  });

  it("take branches, commits and variables as they are", async () => {
    const strange = [
      "--upload-pack=x",
      "$(id)",
      "`id`;&|<>\"'",
      "ü💚\u202e",
      "../..",
      "a".repeat(1000),
      "%s\n\r\t",
    ];
    for (const text of strange) {
      const given = { branch: text, commit: text, env: { A: text }, message: text, label: "<b>" };
      const made = await api.newSchedule(given);
      const { branch, commit, env, message } = await made.read();
      assert.deepEqual({ branch, commit, env, message, label: "<b>" }, given);
      api.goTo(api.nextHour());
      await api.look();
      const { body } = await api.send("GET", `/pipelines/${made.slug}/builds/1`);
      assert.deepEqual([body.branch, body.commit, body.env.A, body.message], Array(4).fill(text));
    }
  });
});
