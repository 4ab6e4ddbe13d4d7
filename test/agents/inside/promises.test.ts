import assert from "node:assert/strict";
import { it } from "node:test";
import { timeOutJobs } from "../../../shared/agents/expire.ts";
import { disconnectAgent } from "../../../shared/agents/lost.ts";
import { findAgent } from "../../../shared/agents/store.ts";
import { minuteMs } from "../../../shared/durations.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { enterJob } from "./in-a-job.ts";

describeWorld("PUT /v3/jobs/{job}/promise_failure", openApi, (api) => {
  const enter = (...steps: (string | object)[]) => enterJob(api, ...steps);
  const promise = ({ job, send }: Awaited<ReturnType<typeof enter>>, exit_status: unknown = 3) =>
    send("PUT", `/jobs/${job}/promise_failure`, { exit_status });

  it("204: the build is failing while the job runs on, and fails with it", async () => {
    const inside = await enter({ command: "a" }, { command: "b" });
    const { build, finish, newAgent } = inside;

    const answer = await promise(inside);

    assert.deepEqual([answer.status, answer.text], [204, ""]);
    const { state, failing_at, jobs } = await build();
    assert.equal(state, "failing");
    assert.equal(jobs[0].state, "running");
    assert.equal(jobs[0].promised_exit_status, 3);
    assert.equal(jobs[0].promised_exit_status_at, failing_at);
    await finish(3);
    await (await newAgent()).runOne();
    assert.equal((await build()).state, "failed");
  });

  it("lets the build run again, and pass, when the job passes after all", async () => {
    const inside = await enter({ command: "a" }, { command: "b" });
    await promise(inside);

    await inside.finish(0);

    const { state, failing_at } = await inside.build();
    assert.equal(state, "running");
    assert.ok(failing_at);
    await (await inside.newAgent()).runOne();
    const passed = await inside.build();
    assert.deepEqual([passed.state, passed.failing_at], ["passed", failing_at]);
  });

  it("keeps the time at which the build was failing first", async () => {
    const inside = await enter({ command: "a" }, { command: "b" }, { command: "c" });
    await promise(inside);
    const { failing_at } = await inside.build();
    await inside.finish(0);
    api.world.clock.advance(minuteMs);

    await (await inside.newAgent()).runOne(1);

    const again = await inside.build();
    assert.deepEqual([again.state, again.failing_at], ["failing", failing_at]);
  });

  for (const [title, step, status, state] of [
    ["every soft failure", { soft_fail: true }, 3, "running"],
    ["a soft exit status", { soft_fail: [{ exit_status: 3 }] }, 3, "running"],
    ["another exit status than the soft one", { soft_fail: [{ exit_status: 3 }] }, 4, "failing"],
    ["a failure to be retried", { retry: { automatic: [{ exit_status: 3, limit: 1 }] } }, 3, "running"],
    ["a failure that no rule retries", { retry: { automatic: [{ exit_status: 3 }] } }, 4, "failing"],
  ] as const)
    it(`leaves the build ${state} for ${title}`, async () => {
      const inside = await enter({ command: "a", ...step });
      await promise(inside, status);
      assert.equal((await inside.build()).state, state);
    });

  it("is failing for a retry whose rule has no retry left", async () => {
    const inside = await enter({ command: "a", retry: { automatic: [{ exit_status: 3, limit: 1 }] } });
    await inside.finish(3);
    const retry = (await inside.agent.offered()) as string;
    const { token } = await inside.agent.begin(retry);

    await inside.agent.send("PUT", `/jobs/${retry}/promise_failure`, { exit_status: 3 }, token);

    assert.equal((await inside.build()).state, "failing");
  });

  it("is forgotten when the agent is lost: the next attempt has promised nothing", async () => {
    const inside = await enter({ command: "a" }, { command: "b" });
    await promise(inside);
    const agent = await findAgent(api.world.services.db, inside.agent.id);
    assert.ok(agent);

    await disconnectAgent(api.world.services, agent);

    const { state, jobs } = await inside.build();
    assert.deepEqual([state, jobs[0].promised_exit_status], ["running", null]);
  });

  it("takes a status in any form, and no promise from 0; 422 for a job that does not run; 404 of a stale lease", async () => {
    const inside = await enter({ command: "a" });
    const promised = async () => (await inside.build()).jobs[0].promised_exit_status;
    assert.equal((await promise(inside, 0)).status, 204);
    assert.equal(await promised(), null);
    for (const [given, status] of [
      ["3", 3],
      [1.5, 2],
      [3221225477, 3221225477],
      [2 ** 40, 2 ** 32 - 1],
      [null, -1],
    ]) {
      assert.equal((await promise(inside, given)).status, 204, String(given));
      assert.equal(await promised(), status);
    }
    await api.send("PUT", `${inside.path}/jobs/${inside.job}/cancel`);
    assert.equal((await promise(inside)).status, 422);
    await inside.finish();
    assert.equal((await promise(inside)).status, 404);
  });
});

describeWorld("PUT /v3/jobs/{job}", openApi, (api) => {
  const setTimeout = (inside: Awaited<ReturnType<typeof enterJob>>, timeout: unknown) =>
    inside.send("PUT", `/jobs/${inside.job}`, { timeout });
  const statesAfter = async (inside: Awaited<ReturnType<typeof enterJob>>, minutes: number) => {
    api.world.clock.advance(minutes * minuteMs);
    await timeOutJobs(api.world.services);
    return inside.states();
  };

  it("sets a timeout where the step has none, in minutes since the start", async () => {
    const inside = await enterJob(api, { command: "a" });
    api.world.clock.advance(4 * minuteMs);

    const { status, body } = await setTimeout(inside, "10");

    assert.deepEqual([status, body], [200, { id: inside.job }]);
    assert.deepEqual(await statesAfter(inside, 5), ["running"]);
    assert.deepEqual(await statesAfter(inside, 2), ["timing_out"]);
  });

  it("lowers the timeout of the step, and raises it by an hour at most", async () => {
    const inside = await enterJob(api, { command: "a", timeout_in_minutes: 30 });
    assert.equal((await setTimeout(inside, 91)).status, 422);
    assert.equal((await setTimeout(inside, 90)).status, 200);
    assert.equal((await setTimeout(inside, 91)).status, 422, "not an hour more each time");
    assert.deepEqual(await statesAfter(inside, 31), ["running"]);
    assert.equal((await setTimeout(inside, 32)).status, 200);
    assert.deepEqual(await statesAfter(inside, 2), ["timing_out"]);
  });

  it("raises no timeout over the maximum of the pipeline", async () => {
    const inside = await enterJob(api, { command: "a" });
    const body = { maximum_timeout_in_minutes: 45 };
    assert.equal((await api.send("PATCH", `/pipelines/${inside.slug}`, { body })).status, 200);
    assert.equal((await setTimeout(inside, 46)).status, 422);
    assert.equal((await setTimeout(inside, 45)).status, 200);
  });

  it("422 for anything else, and for a job that does not run", async () => {
    const inside = await enterJob(api, { command: "a" });
    for (const body of [{}, { timeout: "" }, { timeout: "0" }, { timeout: null }, { timeout: "a" }])
      assert.equal((await inside.send("PUT", `/jobs/${inside.job}`, body)).status, 422, JSON.stringify(body));
    const both = { timeout: "5", priority: "1" };
    assert.equal((await inside.send("PUT", `/jobs/${inside.job}`, both)).status, 422);
    const other = await inside.send("PUT", `/jobs/${inside.job}`, { priority: "1" });
    assert.deepEqual([other.status, other.body.message], [422, "Only the timeout of a job can be changed"]);
    await api.send("PUT", `${inside.path}/jobs/${inside.job}/cancel`);
    assert.equal((await setTimeout(inside, "5")).status, 422);
  });
});
