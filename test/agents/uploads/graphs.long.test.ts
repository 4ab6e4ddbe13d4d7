import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { it } from "node:test";
import { expireJobs, timeOutJobs } from "../../../shared/agents/expire.ts";
import { dayMs, minuteMs } from "../../../shared/durations.ts";
import { openAgentApi, startAgent } from "../../helpers/agent.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";

interface ShownJob {
  id: string;
  command: string | null;
  name: string | null;
  state: string;
}

describeWorldOn(sqlite, "steps that jobs upload", openAgentApi, (api) => {
  /** A build on a queue of its own. Texts are steps that run this command. */
  const setUp = async (...given: (string | object)[]) => {
    const queue = await api.newQueue();
    const stepOf = (step: string | object): object => {
      if (step === "wait") return { wait: null };
      if (typeof step === "string") return { command: step, key: step, agents: { queue: queue.key } };
      if ("steps" in step) return { ...step, steps: (step.steps as object[]).map(stepOf) };
      return "wait" in step
        ? step
        : { ...("key" in step ? { command: step.key } : {}), agents: { queue: queue.key }, ...step };
    };
    const pipeline = await api.newPipeline({ steps: given.map(stepOf) });
    await api.build(pipeline.id);
    const path = `/pipelines/${pipeline.slug}/builds/1`;
    const build = async () => (await api.send("GET", path)).body as { state: string; jobs: ShownJob[] };
    const rows = async () => {
      const { db } = api.world.services;
      return (await db.select().from(db.tables.jobs)).filter(({ queueId }) => queueId === queue.id);
    };
    const jobOf = async (command: string) => {
      const jobs = (await build()).jobs.filter((each) => each.command === command);
      const job = jobs.find(({ state }) => state !== "canceled") ?? jobs[0];
      assert.ok(job, `there is no job ${command}`);
      return job;
    };
    /** Starts the job of a command. */
    const begin = async (command: string) => {
      const { id } = await jobOf(command);
      const agent = await startAgent(api.world.url, api.agentToken, {
        meta_data: [`queue=${queue.key}`],
        ignore_in_dispatches: true,
      });
      const acquired = await agent.send("PUT", `/jobs/${id}/acquire`);
      assert.equal(acquired.status, 200, `${command}: ${acquired.text}`);
      const { token, env } = acquired.body as { token: string; env: Record<string, string> };
      assert.equal((await agent.send("PUT", `/jobs/${id}/start`, {}, token)).status, 200);
      const send = (body: object) => agent.send("POST", `/jobs/${id}/pipelines`, body, token);
      return {
        id,
        env,
        uploadDocument: (pipeline: object, more: object = {}) =>
          send({ uuid: randomUUID(), pipeline, ...more }),
        upload: async (...steps: (string | object)[]) => {
          const { status, text } = await send({ uuid: randomUUID(), pipeline: { steps: steps.map(stepOf) } });
          assert.equal(status, 200, text);
        },
        finish: async (exitStatus = 0) => {
          const { status, text } = await agent.finish(id, exitStatus, token);
          assert.equal(status, 200, text);
        },
      };
    };
    return {
      queue,
      stepOf,
      build,
      rows,
      begin,
      run: async (command: string, exitStatus = 0) => (await begin(command)).finish(exitStatus),
      /** Such as `a passed, wait waiting`. */
      states: async () => {
        const { state, jobs } = await build();
        return [state, ...jobs.map((job) => `${job.command ?? "wait"} ${job.state}`)].join(", ");
      },
      change: async (command: string, verb: "cancel" | "retry") => {
        const { status, text } = await api.send("PUT", `${path}/jobs/${(await jobOf(command)).id}/${verb}`);
        assert.equal(status, 200, text);
      },
    };
  };
  const needs = (...keys: string[]) => ({ depends_on: keys });

  it("hold back what stands behind their job, at any depth, and start when it has finished", async () => {
    const { begin, run, states } = await setUp("up", "wait", "deploy", { key: "notify", ...needs("up") });
    const up = await begin("up");
    await up.upload("inner");
    assert.equal(
      await states(),
      "running, up running, inner waiting, wait waiting, deploy waiting, notify waiting",
    );
    await up.finish();
    assert.equal(
      await states(),
      "running, up passed, inner scheduled, wait waiting, deploy waiting, notify waiting",
    );
    const inner = await begin("inner");
    await inner.upload("innermost");
    await inner.finish();
    assert.match(await states(), /innermost scheduled, wait waiting, deploy waiting, notify waiting$/);

    await run("innermost");

    assert.match(await states(), /innermost passed, wait passed, deploy scheduled, notify scheduled$/);
  });

  it("of each upload stand before those of earlier ones, and their waits hold back only their own", async () => {
    const { begin, run, states } = await setUp("up", "wait", "deploy");
    const up = await begin("up");
    await up.upload("a", "wait", "b");
    await up.upload("c", "wait", "d");
    await up.finish();
    await run("c");
    assert.equal(
      await states(),
      "running, up passed, c passed, wait passed, d scheduled, a scheduled, wait waiting, b waiting, wait waiting, deploy waiting",
    );
  });

  it("start at once with depends_on null or [], and at what it names otherwise", async () => {
    const { begin, states } = await setUp("up", "other");
    const up = await begin("up");
    await up.upload(
      { key: "a", depends_on: null },
      { key: "b", depends_on: [] },
      { key: "c", ...needs("other") },
      "d",
    );
    assert.equal(
      await states(),
      "running, up running, a scheduled, b scheduled, c waiting, d waiting, other scheduled",
    );
    await up.finish(1);
    assert.equal(
      await states(),
      "failing, up failed, a scheduled, b scheduled, c waiting, d waiting_failed, other scheduled",
    );
  });

  it("with steps null or [] add nothing, but their variables count", async () => {
    const { begin, states } = await setUp("up", "other");
    const up = await begin("up");
    for (const steps of [[], null]) {
      const { status } = await up.uploadDocument({ steps, env: { LATE: "yes" } });
      assert.equal(status, 200);
    }
    assert.equal(await states(), "running, up running, other scheduled");
    assert.equal((await begin("other")).env.LATE, "yes");
  });

  it("bring variables to jobs that have not started and to later uploads, and not to those that have", async () => {
    const { begin, stepOf, states } = await setUp("up", "started", "other");
    const started = await begin("started");
    const up = await begin("up");
    await up.uploadDocument({ env: { A: "1", B: "1", N: 5, T: true, E: null }, steps: [] });
    await up.uploadDocument({
      env: { B: "2" },
      steps: [
        { ...stepOf("a"), if: 'build.env("A") == "1" && build.env("B") == "2" && build.env("E") == ""' },
        { ...stepOf("b"), if: 'build.env("B") == "1"' },
        { ...stepOf("c"), env: { B: "own" }, if: 'build.env("B") != "own"' },
      ],
    });
    await up.finish();
    assert.match(await states(), /a scheduled, b broken, c scheduled/);
    assert.equal(started.env.A, undefined);
    const { env } = await begin("other");
    assert.deepEqual([env.A, env.B, env.N, env.T, env.E], ["1", "2", "5", "true", ""]);
    assert.equal((await begin("c")).env.B, "own");
  });

  it("merge the tags of their document with their own, key by key", async () => {
    const { begin, queue, rows } = await setUp("up");
    const up = await begin("up");
    const { status, text } = await up.uploadDocument({
      agents: { queue: queue.key, os: "linux", gpu: "any" },
      steps: [{ command: "a", agents: { os: "mac", mem: 16, docker: true } }, { command: "b" }],
    });
    assert.equal(status, 200, text);
    const found = await rows();
    const rulesOf = (command: string) => found.find((row) => row.ownCommand === command)?.agentRules;
    assert.equal(rulesOf("a"), JSON.stringify(["docker=true", "gpu=any", "mem=16", "os=mac"]));
    assert.equal(rulesOf("b"), JSON.stringify(["gpu=any", "os=linux"]));
  });

  it("are refused with a key that the build has, a circle, or a condition that cannot be evaluated", async () => {
    const { begin, stepOf, states } = await setUp("up", "other", { key: "late", ...needs("new") });
    const up = await begin("up");
    const before = await states();
    const refused = async (message: RegExp, ...steps: (string | object)[]) => {
      const { status, body } = await up.uploadDocument({ steps: steps.map(stepOf) });
      assert.equal(status, 422);
      assert.match(body.message, message);
    };
    await refused(/The key "other" has already been used by another step in this build/, "a", "other");
    await refused(/The key "twice" has already been used/, "twice", "twice");
    await refused(/wait for each other.*: late, new|: new, late/, { key: "new", ...needs("late") });
    await refused(/wait for each other/, { key: "self", ...needs("self") });
    await refused(/steps\[1\]\.if/, "a", { key: "b", if: "build.branch =~ 3" });
    await refused(/steps\[0\]\.steps\[1\]\.if/, { group: "g", steps: ["a", { key: "b", if: "1" }] });
    assert.equal(await states(), before);
    await up.upload("new");
    await up.finish();
    assert.match(await states(), /new scheduled, other scheduled, late waiting$/);
  });

  it("free the keys of the steps that they replace, and bring some of them again", async () => {
    const { begin, stepOf, states, run } = await setUp("up", "a", { key: "b", ...needs("a") }, "running");
    const running = await begin("running");
    const up = await begin("up");
    const { status, text } = await up.uploadDocument(
      {
        steps: [stepOf("b"), stepOf({ key: "c", ...needs("running") }), stepOf({ key: "d", ...needs("a") })],
      },
      { replace: true },
    );
    assert.equal(status, 200, text);
    await up.finish();
    await running.finish();
    await run("b");
    await run("c");

    assert.equal(
      await states(),
      "failed, up passed, b passed, c passed, d waiting_failed, a canceled, b canceled, running passed",
    );
  });

  it("may bring a key that others wait for; without it they fail, and with them the build", async () => {
    const waiting = await setUp(
      "up",
      { key: "late", ...needs("missing") },
      { key: "last", ...needs("late") },
    );
    const up = await waiting.begin("up");
    await up.upload("missing");
    await up.finish();
    await waiting.run("missing");
    assert.match(await waiting.states(), /late scheduled, last waiting$/);

    const failing = await setUp(
      "up",
      { key: "late", ...needs("missing") },
      { key: "last", ...needs("late") },
    );
    await failing.run("up");
    assert.equal(await failing.states(), "failed, up passed, late waiting_failed, last waiting_failed");

    const allowing = await setUp(
      "up",
      { key: "late", ...needs("missing") },
      { key: "last", depends_on: [{ step: "late", allow_failure: true }] },
    );
    await allowing.run("up");
    assert.equal(await allowing.states(), "failing, up passed, late waiting_failed, last scheduled");
    await allowing.run("last");
    assert.match(await allowing.states(), /^failed,/);
  });

  it("that are left out are satisfied, and a build of such steps alone has not run", async () => {
    const { begin, states, run, rows } = await setUp("up");
    const up = await begin("up");
    await up.upload(
      { key: "a", if: "false" },
      { key: "b", branches: "release/*" },
      { key: "c", skip: "not today" },
      { key: "d", skip: true },
      { key: "all", ...needs("a", "b", "c", "d") },
      { wait: null, if: "false" },
      "last",
    );
    await up.finish();
    await run("all");
    await run("last");
    assert.equal(
      await states(),
      "passed, up passed, a broken, b broken, c broken, d broken, all passed, wait broken, last passed",
    );
    const reasons = (await rows()).filter(({ state }) => state === "broken").map((row) => row.brokenReason);
    assert.deepEqual(reasons.sort(), ["branch_mismatch", "conditional_failed", "not today", null].sort());

    const none = await setUp({ key: "a", if: "false" }, "wait", { key: "b", skip: true });
    assert.equal(await none.states(), "not_run, a broken, wait passed, b broken");
  });

  it("pass a cancelation, an expiry and a time-out on only if every failure is soft", async () => {
    for (const soft of [true, false]) {
      const { begin, states, change, run } = await setUp(
        { key: "first", timeout_in_minutes: 1, soft_fail: soft || [{ exit_status: 1 }] },
        { key: "second", soft_fail: soft || [{ exit_status: 1 }] },
        { key: "third", soft_fail: soft || [{ exit_status: 1 }] },
        { key: "after canceled", depends_on: [{ step: "second", allow_failure: true }] },
        { key: "after timed out", ...needs("first") },
        { key: "after expired", ...needs("third") },
      );
      const first = await begin("first");
      await change("second", "cancel");
      assert.match(await states(), soft ? /after canceled scheduled/ : /after canceled waiting_failed/);
      if (soft) await run("after canceled");
      api.world.clock.advance(2 * minuteMs);
      await timeOutJobs(api.world.services);
      await first.finish(-1);
      assert.match(await states(), soft ? /after timed out scheduled/ : /after timed out waiting_failed/);
      if (soft) await run("after timed out");
      api.world.clock.advance(31 * dayMs);
      await expireJobs(api.world.services);
      assert.match(
        await states(),
        soft ? /after expired scheduled$/ : /^failed.*after expired waiting_failed$/,
      );
      if (soft) await run("after expired");
      assert.match(
        await states(),
        soft ? /^passed, first timed_out, second canceled, third expired/ : /^failed/,
      );
    }
  });

  it("may wait for a job that passes after its time-out", async () => {
    const { begin, states } = await setUp({ key: "slow", timeout_in_minutes: 1 }, "wait", "next");
    const slow = await begin("slow");
    api.world.clock.advance(2 * minuteMs);
    await timeOutJobs(api.world.services);
    assert.match(await states(), /slow timing_out/);
    await slow.finish(0);
    assert.equal(await states(), "running, slow passed, wait passed, next scheduled");
  });

  it("wait again when what they could not start after is retried", async () => {
    const { begin, states, change, run } = await setUp("up", { key: "plain", ...needs("a") });
    const up = await begin("up");
    await up.upload("a", { key: "b", ...needs("a") }, "wait", "c");
    await up.finish();
    await run("a", 1);
    assert.equal(
      await states(),
      "failed, up passed, a failed, b waiting_failed, wait waiting_failed, c waiting_failed, plain waiting_failed",
    );
    await change("a", "retry");
    assert.match(await states(), /a scheduled, b waiting, wait waiting, c waiting, plain waiting$/);
    await run("a");
    assert.match(await states(), /a passed, b scheduled, wait waiting, c waiting, plain scheduled$/);
    await run("b");
    await run("plain");
    await run("c");
    assert.match(await states(), /^passed/);
  });

  it("hold back who names a group until all of it has ended, also what a job of the group uploads", async () => {
    const { begin, states, run, rows } = await setUp(
      { group: "Tests", key: "tests", steps: ["up", "unit"] },
      { key: "deploy", ...needs("tests") },
    );
    const up = await begin("up");
    await up.upload("more");
    await up.finish();
    await run("unit");
    assert.match(await states(), /deploy waiting$/);
    const groups = (await rows()).map(
      ({ ownCommand, ownOptions }) => `${ownCommand} ${ownOptions?.group?.key}`,
    );
    assert.deepEqual(groups.sort(), ["deploy undefined", "more tests", "unit tests", "up tests"]);
    await run("more");
    assert.match(await states(), /deploy scheduled$/);
  });

  it("with a matrix keep the text of each job when it is retried", async () => {
    const { begin, queue, build, change, states } = await setUp("up");
    const up = await begin("up");
    const matrix = {
      setup: { os: ["linux", "mac"], n: ["1", "2"] },
      adjustments: [{ with: { os: "mac", n: "2" }, skip: "no mac 2" }],
    };
    const { status, text } = await up.uploadDocument({
      steps: [
        {
          command: "test {{matrix.os}} {{matrix.n}}",
          key: "tests",
          agents: { queue: queue.key },
          env: { OS: "{{matrix.os}}" },
          matrix,
          soft_fail: [{ exit_status: 9 }],
        },
      ],
    });
    assert.equal(status, 200, text);
    await up.finish();
    assert.equal(
      await states(),
      "running, up passed, test linux 1 scheduled, test linux 2 scheduled, test mac 1 scheduled, test mac 2 broken",
    );
    await (await begin("test mac 1")).finish(1);
    await change("test mac 1", "retry");
    const again = await begin("test mac 1");
    assert.deepEqual([again.env.OS, again.env.BUILDKITE_STEP_KEY], ["mac", "tests"]);
    await again.finish(9);
    for (const command of ["test linux 1", "test linux 2"]) await (await begin(command)).finish();
    assert.equal((await build()).state, "passed");
  });
});
