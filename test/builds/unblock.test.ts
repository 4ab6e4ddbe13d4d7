import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { beforeEach, it } from "node:test";
import { eq } from "drizzle-orm";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../helpers/agent.ts";
import { openApi, timestamp, unknownId } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";
import { addPerson } from "../helpers/organization.ts";

describeWorld("a build with steps for people", openApi, (api) => {
  let agent: ScriptedAgent;

  beforeEach(async () => {
    const token = await agentTokenOf(api.world, api.acme.cluster, { queueId: api.acme.queue.id });
    agent = await startAgent(api.world.url, token);
  });

  const newBuild = async (...steps: unknown[]) => {
    const { slug } = await api.newPipeline({ steps });
    const { status, body, text } = await api.send("POST", `/pipelines/${slug}/builds`, { body: {} });
    assert.equal(status, 201, text);
    const path = `/pipelines/${slug}/builds/1`;
    const read = async () => (await api.send("GET", path)).body;
    const jobOf = async (key: string) =>
      (await read()).jobs.find((job: { step_key: string }) => job.step_key === key);
    return {
      path,
      slug,
      id: body.id as string,
      read,
      jobOf,
      states: async () => {
        const { state, blocked, jobs } = await read();
        const ofJobs = jobs.map((job: { step_key: string; state: string }) => `${job.step_key} ${job.state}`);
        return `${blocked ? "blocked, " : ""}${state}: ${ofJobs.join(", ")}`;
      },
      unblock: async (key: string, body?: object, token?: string) => {
        const { id } = await jobOf(key);
        const sent = { ...(body && { body }), ...(token && { token }) };
        return api.send("PUT", `${path}/jobs/${id}/unblock`, sent);
      },
    };
  };
  const a = { command: "a", key: "a" };
  const b = { command: "b", key: "b" };
  const release = { block: "Release?", key: "release" };

  it("goes on behind a block once somebody unblocks it", async () => {
    const build = await newBuild(a, release, b);
    assert.equal(await build.states(), "scheduled: a scheduled, release blocked, b blocked");
    const early = await build.unblock("release");
    assert.deepEqual(
      [early.status, early.body],
      [422, { message: "Job cannot be unblocked yet: it waits for other steps" }],
    );

    await agent.runOne();
    assert.equal(await build.states(), "blocked, passed: a passed, release blocked, b blocked");
    const { unblock_url, ...blocked } = await build.jobOf("release");
    assert.equal(
      unblock_url,
      `https://api.example.com/v2/organizations/acme${build.path}/jobs/${blocked.id}/unblock`,
    );
    assert.deepEqual(
      [blocked.type, blocked.label, blocked.unblockable, blocked.unblocked_by, blocked.unblocked_at],
      ["manual", "Release?", true, null, null],
    );

    const { status, body } = await build.unblock("release");
    assert.equal(status, 200);
    assert.deepEqual(
      [body.id, body.state, body.unblockable, body.unblocked_by.id],
      [blocked.id, "unblocked", false, api.admin.id],
    );
    assert.match(body.unblocked_at, timestamp);
    assert.equal(await build.states(), "running: a passed, release unblocked, b scheduled");
    await agent.runOne();
    assert.equal(await build.states(), "passed: a passed, release unblocked, b passed");
  });

  it("tells the jobs behind, and no others, who unblocked", async () => {
    const build = await newBuild(release, b, { command: "side", key: "side", depends_on: [] });
    await build.unblock("release");
    const envOf = async () => {
      const id = (await agent.offered()) as string;
      const { env, token } = await agent.begin(id);
      await agent.finish(id, 0, token);
      return env;
    };
    const envs = [await envOf(), await envOf()];
    const behind = envs.find(({ BUILDKITE_STEP_KEY }) => BUILDKITE_STEP_KEY === "b");
    const beside = envs.find(({ BUILDKITE_STEP_KEY }) => BUILDKITE_STEP_KEY === "side");
    const { id, name, email } = api.admin;
    assert.deepEqual(
      ["UNBLOCKER", "UNBLOCKER_EMAIL", "UNBLOCKER_ID", "UNBLOCKER_TEAMS"].map(
        (each) => behind?.[`BUILDKITE_${each}`],
      ),
      [name, email, id, ""],
    );
    assert.equal(beside?.BUILDKITE_UNBLOCKER, undefined);
  });

  it("waits at a wait or block until the inputs before it are answered", async () => {
    for (const next of [
      { wait: null, key: "next" },
      { block: "Go?", key: "next" },
    ]) {
      const build = await newBuild({ input: "Name?", key: "name" }, a, next, b);
      await agent.runOne();
      const held = await build.states();
      assert.match(held, /^blocked, .*name blocked, a passed, next (blocked|waiting), b (blocked|waiting)$/);
      assert.equal((await build.jobOf("next")).unblockable ?? false, false);

      assert.equal((await build.unblock("name")).status, 200);
      if ("block" in next) assert.equal((await build.unblock("next")).status, 200);
      await agent.runOne();
      assert.match(await build.states(), /^passed: .*, b passed$/);
    }
  });

  it("lets an input hold up only the steps that name its key", async () => {
    const build = await newBuild({ input: "Name?", key: "name" }, a, { ...b, depends_on: "name" });
    assert.equal(await build.states(), "scheduled: name blocked, a scheduled, b blocked");
    await agent.runOne();
    assert.equal(await build.states(), "blocked, passed: name blocked, a passed, b blocked");
    await build.unblock("name");
    assert.equal(await build.states(), "running: name unblocked, a passed, b scheduled");
    await agent.runOne();
    assert.equal((await build.read()).state, "passed");
  });

  it("cannot be unblocked any more where an upload replaced the step", async () => {
    const build = await newBuild(a, { input: "Name?", key: "name" });
    const job = (await agent.offered()) as string;
    const { token } = await agent.begin(job);
    assert.equal((await build.jobOf("name")).unblockable, true);
    const upload = { uuid: randomUUID(), pipeline: { steps: [] }, replace: true };
    assert.equal((await agent.send("POST", `/jobs/${job}/pipelines`, upload, token)).status, 200);

    const { state, unblockable } = await build.jobOf("name");
    assert.deepEqual([state, unblockable], ["canceled", false]);
    assert.equal((await build.unblock("name")).status, 422);
    await agent.finish(job, 0, token);
    assert.equal((await build.read()).state, "passed");
  });

  it("shows the worst blocked_state, and failed after a failure", async () => {
    const running = { input: "One?", key: "one", blocked_state: "running" };
    const failed = { input: "Two?", key: "two", blocked_state: "failed" };
    const build = await newBuild({ input: "Three?", key: "three" }, running, failed);
    assert.equal(await build.states(), "blocked, failed: three blocked, one blocked, two blocked");
    await build.unblock("two");
    assert.equal(await build.states(), "blocked, running: three blocked, one blocked, two unblocked");
    await build.unblock("one");
    assert.equal(await build.states(), "blocked, passed: three blocked, one unblocked, two unblocked");

    const broken = await newBuild(a, { input: "Name?", key: "name" });
    await agent.runOne(1);
    assert.equal(await broken.states(), "blocked, failed: a failed, name blocked");
    await broken.unblock("name");
    assert.equal(await broken.states(), "failed: a failed, name unblocked_failed");
  });

  it("fails its blocks and all behind them after a failure, and a retry mends that", async () => {
    const build = await newBuild(a, release, b);
    await agent.runOne(1);
    assert.equal(await build.states(), "failed: a failed, release blocked_failed, b blocked_failed");
    const late = await build.unblock("release");
    assert.equal(late.body.message, "Job cannot be unblocked: a step before it has failed");

    await api.send("PUT", `${build.path}/jobs/${(await build.jobOf("a")).id}/retry`);
    assert.equal(await build.states(), "running: a scheduled, release blocked, b blocked");
    await agent.runOne();
    assert.equal(await build.states(), "blocked, passed: a passed, release blocked, b blocked");
    await build.unblock("release");
    await agent.runOne(1);
    assert.equal(await build.states(), "failed: a passed, release unblocked_failed, b failed");
    await api.send("PUT", `${build.path}/jobs/${(await build.jobOf("b")).id}/retry`);
    assert.equal(await build.states(), "running: a passed, release unblocked, b scheduled");
    await agent.runOne();
    assert.equal(await build.states(), "passed: a passed, release unblocked, b passed");
  });

  it("has jobs that are found as blocked, and as unblocked afterwards", async () => {
    const build = await newBuild(a, release, b);
    const found = async (state: string) => {
      const { items } = (await api.send("GET", `${build.path}/jobs?state=${state}`)).body;
      return items.map(({ step_key }: { step_key: string }) => step_key);
    };
    assert.deepEqual([await found("blocked"), await found("unblocked")], [["release", "b"], []]);
    await agent.runOne();
    await build.unblock("release");
    assert.deepEqual([await found("blocked"), await found("unblocked")], [[], ["release"]]);
    assert.deepEqual(await found("scheduled"), ["b"]);
  });

  it("is found by the state that it shows, and as blocked", async () => {
    const passed = await newBuild(release);
    const failed = await newBuild({ ...release, blocked_state: "failed" });
    const running = await newBuild({ ...release, blocked_state: "running" });
    const found = async (state: string) => {
      const { body } = await api.send("GET", `/builds?state=${state}&per_page=100`);
      const own = [passed, failed, running].map(({ id }) => id);
      return own.map((id) => body.some((build: { id: string }) => build.id === id));
    };
    assert.deepEqual(await found("blocked"), [true, true, true]);
    assert.deepEqual(await found("passed"), [true, false, false]);
    assert.deepEqual(await found("failed"), [false, true, false]);
    assert.deepEqual(await found("running"), [false, false, true]);
    assert.deepEqual(await found("finished"), [true, true, false]);
  });

  it("can be canceled while it is blocked, and is found by its state", async () => {
    const build = await newBuild(release, b);
    const found = async (state: string) =>
      (await api.send("GET", `/pipelines/${build.slug}/builds?state=${state}`)).body.length;
    for (const [state, amount] of Object.entries({
      blocked: 1,
      passed: 1,
      finished: 1,
      failed: 0,
      running: 0,
    }))
      assert.equal(await found(state), amount, state);
    const { body } = await api.send("PUT", `${build.path}/cancel`);
    assert.deepEqual([body.state, body.blocked], ["canceled", false]);
    assert.equal(await build.states(), "canceled: release canceled, b canceled");
    assert.equal(
      (await build.unblock("release")).body.message,
      "Jobs from canceled builds cannot be unblocked",
    );
    assert.deepEqual([await found("blocked"), await found("canceled")], [0, 1]);
  });

  it("has no barrier where a block is left out", async () => {
    const build = await newBuild({ ...release, if: "false" }, b);
    assert.equal(await build.states(), "scheduled: release broken, b scheduled");
    await agent.runOne();
    assert.equal((await build.unblock("release")).body.message, "Job cannot be unblocked: it was left out");
  });

  it("keeps answers as meta-data", async () => {
    const fields = [
      { text: "Name", key: "name", format: "v\\d+" },
      { text: "Notes", key: "notes", required: false },
      { text: "Free", key: "free", required: false, default: 7 },
      {
        select: "Where",
        key: "where",
        options: [
          { label: "A", value: "a" },
          { label: "B", value: "b" },
        ],
      },
      {
        select: "Who",
        key: "who",
        multiple: true,
        default: ["x", "y"],
        options: [
          { label: "X", value: "x" },
          { label: "Y", value: "y" },
        ],
      },
    ];
    const build = await newBuild({ ...release, fields }, b);
    const wrong: [object, string][] = [
      [{}, "Field name can't be blank, Field where can't be blank"],
      [{ name: "v1x", where: "a" }, "Field name must match v\\d+"],
      [{ name: "x\nv1", where: "a" }, "Field name must match v\\d+"],
      [{ name: "v1", where: "c" }, "Field where must be one of its options"],
      [{ name: "v1", where: ["a", "b"] }, "Field where takes one value only"],
      [{ name: "v1", where: "a", who: ["x", "z"] }, "Field who must be one of its options"],
      [{ name: "v1", where: "a", who: [] }, "Field who can't be blank"],
      [{ name: "v1", where: "a", other: "x" }, 'There is no field "other"'],
      [Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, 0])), "Fields can be 50 at most"],
    ];
    for (const [given, message] of wrong) {
      const { status, body } = await build.unblock("release", { fields: given });
      assert.deepEqual([status, body.message], [422, `Validation failed: ${message}`]);
    }
    assert.deepEqual((await build.read()).meta_data, {});

    const answers = { name: "v12", where: "b", notes: "one\r\ntwo", who: ["y"] };
    assert.equal((await build.unblock("release", { fields: answers })).status, 200);
    assert.deepEqual((await build.read()).meta_data, {
      name: "v12",
      where: "b",
      notes: "one\ntwo",
      who: "y",
      free: "7",
    });
  });

  it("takes defaults for absent answers, and a blank one for optional fields", async () => {
    const fields = [
      { text: "Free", key: "free", required: false },
      {
        select: "Who",
        key: "who",
        multiple: true,
        default: ["a", "b"],
        options: [
          { label: "A", value: "a" },
          { label: "B", value: "b" },
        ],
      },
    ];
    const build = await newBuild({ ...release, fields });
    await build.unblock("release");
    assert.deepEqual((await build.read()).meta_data, { free: "", who: "a\nb" });
    assert.equal((await build.read()).state, "passed");
  });

  it("lets admins alone unblock steps with allowed_teams", async () => {
    const { world, acme, tokenOf, admin } = api;
    const member = await addPerson(world, acme, "member");
    const token = await tokenOf(member);
    const build = await newBuild({ ...release, allowed_teams: "deployers" }, { ...release, key: "open" });
    const { status, body } = await build.unblock("release", { unblocker: admin.id }, token);
    assert.deepEqual(
      [status, body.message],
      [403, "Only admins can unblock this job, because its step names allowed_teams"],
    );
    assert.equal((await build.unblock("release", { unblocker: member.id })).body.unblocked_by.id, member.id);
    assert.equal((await build.unblock("open", {}, token)).body.unblocked_by.id, member.id);
  });

  it("refuses strangers as unblockers, other jobs, and all but the first of several", async () => {
    const build = await newBuild(release, b);
    for (const unblocker of [unknownId, "somebody"]) {
      const { status, body } = await build.unblock("release", { unblocker });
      assert.deepEqual(
        [status, body.message],
        [422, "Unblocker is not a valid user id for this organization"],
      );
    }
    const other = await build.unblock("b");
    assert.deepEqual([other.status, other.body.message], [400, "This job type cannot be unblocked"]);

    const { id } = await build.jobOf("release");
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => api.send("PUT", `/jobs/${id}/unblock`)),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(5).fill(422)]);
    const { db } = api.world.services;
    const { auditEvents } = db.tables;
    const events = await db.select().from(auditEvents).where(eq(auditEvents.subjectId, build.id));
    const unblocked = events.filter(({ action }) => action === "unblocked a step of");
    assert.equal(unblocked.length, 1);
  });
});
