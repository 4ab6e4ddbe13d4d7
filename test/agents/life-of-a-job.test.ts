import assert from "node:assert/strict";
import { it } from "node:test";
import { expireJobs, timeOutJobs } from "../../shared/agents/expire.ts";
import { loseUnseenAgents, markListening } from "../../shared/agents/lost.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../shared/durations.ts";
import { openAgentApi, type ScriptedAgent } from "../helpers/agent.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";

describeWorld("the life of a job", withSettings(openAgentApi, { JOB_RESTARTS: "1" }), (api) => {
  const setUp = async (...steps: object[]) => {
    const { read, newAgent, ...site } = await api.buildOnQueue(...(steps.length > 0 ? steps : [{}]));
    return { ...site, build: () => read("?include_retried_jobs=true"), agentOf: newAgent };
  };

  /** Lets time pass for an ingress process that listens all the while. */
  const pass = async (ms: number) => {
    const { clock, services } = api.world;
    for (let passed = 0; passed < ms; passed += 10 * secondMs) {
      clock.advance(Math.min(10 * secondMs, ms - passed));
      await markListening(services);
    }
  };

  it("goes from a queue to passed", async () => {
    const { agentOf, build } = await setUp();
    const agent = await agentOf();

    const jobId = (await agent.offered()) as string;
    assert.deepEqual(
      (await build()).jobs.map((job: { state: string }) => job.state),
      ["assigned"],
    );
    assert.equal(await agent.offered(), jobId, "the same job is offered until it is accepted");
    const accepted = await agent.begin(jobId);
    assert.equal((await build()).state, "running");
    assert.deepEqual((await agent.send("GET", `/jobs/${jobId}`, undefined, accepted.token)).body, {
      id: jobId,
      state: "running",
    });
    assert.equal((await agent.finish(jobId, 0, accepted.token)).status, 200);

    const finished = await build();
    assert.equal(finished.state, "passed");
    assert.deepEqual([finished.jobs[0].state, finished.jobs[0].exit_status], ["passed", 0]);
    assert.equal((await agent.finish(jobId, 0, accepted.token)).status, 200, "a repeated finish");
    assert.equal(await agent.offered(), undefined);
  });

  it("is accepted by repetition with tokens of one attempt", async () => {
    const { agentOf } = await setUp();
    const agent = await agentOf();
    const jobId = (await agent.offered()) as string;
    const [first, second] = await Promise.all([1, 2].map(() => agent.send("PUT", `/jobs/${jobId}/accept`)));
    assert.deepEqual([first?.status, second?.status], [200, 200]);
    assert.equal((await agent.send("PUT", `/jobs/${jobId}/start`, {}, first?.body.token)).status, 200);
    assert.equal((await agent.finish(jobId, 0, second?.body.token)).status, 200);
  });

  it("is canceled with its build: at once while it waits, by its agent while it runs", async () => {
    const { agentOf, build, states, pipeline } = await setUp({}, {}, { type: "wait" }, {});
    const agent = await agentOf();
    const jobId = (await agent.offered()) as string;
    const { token: jobToken } = await agent.begin(jobId);
    const canceled = await api.send("PUT", `/pipelines/${pipeline.slug}/builds/1/cancel`);
    assert.equal(canceled.body.state, "canceling");
    assert.deepEqual(await states(), ["canceling", "canceled", "canceled", "canceled"]);
    assert.equal((await agent.send("GET", `/jobs/${jobId}`, undefined, jobToken)).body.state, "canceling");
    await agent.finish(jobId, -1, jobToken);
    assert.equal((await build()).state, "canceled");
  });

  it("is canceled after its time-out: canceled whatever its exit status, else timed out unless it passes", async () => {
    const ends = [
      { isCanceled: true, exitStatus: 0, end: "canceled" },
      { isCanceled: true, exitStatus: -1, end: "canceled" },
      { isCanceled: false, exitStatus: 0, end: "passed" },
      { isCanceled: false, exitStatus: 1, end: "timed_out" },
    ];
    for (const { isCanceled, exitStatus, end } of ends) {
      const { agentOf, states, pipeline } = await setUp({ timeout_in_minutes: 5 });
      const agent = await agentOf({ version: "3.137.0" });
      const jobId = (await agent.offered()) as string;
      const { token: jobToken } = await agent.begin(jobId);
      const seen = async () => (await agent.send("GET", `/jobs/${jobId}`, undefined, jobToken)).body.state;
      api.world.clock.advance(6 * minuteMs);
      await timeOutJobs(api.world.services);
      assert.equal(await seen(), "timing_out");
      if (isCanceled) {
        await api.send("PUT", `/pipelines/${pipeline.slug}/builds/1/cancel`);
        assert.equal(await seen(), "canceling");
        await timeOutJobs(api.world.services);
        assert.equal(await seen(), "canceling", "the time-out is over");
      }
      await agent.finish(jobId, exitStatus, jobToken);
      assert.deepEqual(await states(), [end]);
    }
  });

  it("that was reserved and canceled is not accepted", async () => {
    const { agentOf, build, pipeline } = await setUp();
    const agent = await agentOf();
    const jobId = await agent.offered();
    await api.send("PUT", `/pipelines/${pipeline.slug}/builds/1/cancel`);
    assert.equal((await agent.send("PUT", `/jobs/${jobId}/accept`)).status, 404);
    assert.equal((await build()).state, "canceled");
    assert.equal(await agent.offered(), undefined);
  });

  it("of a lost agent goes back to its queue, and fails when that is too often", async () => {
    const { agentOf, build, states } = await setUp();
    for (let attempt = 1; attempt <= 2; attempt++) {
      const agent = await agentOf();
      const jobId = (await agent.offered()) as string;
      const { token: jobToken } = await agent.begin(jobId);
      await pass(2 * minuteMs);
      assert.ok((await loseUnseenAgents(api.world.services)) > 0);
      assert.deepEqual(await states(), [attempt === 1 ? "scheduled" : "failed"]);
      if (attempt === 1) {
        assert.equal((await agent.finish(jobId, 0, jobToken)).status, 422, "a stale lease");
        assert.equal((await agent.finish(jobId, 0)).status, 422, "a stale lease");
        assert.equal((await agent.send("POST", "/heartbeat", {})).status, 200, "it may come back");
        assert.equal((await agent.send("POST", "/disconnect")).status, 200);
        assert.equal((await agent.send("GET", "/ping")).status, 401);
      }
    }
    const { state, jobs } = await build();
    assert.deepEqual([state, jobs[0].exit_status], ["failed", -1]);
  });

  it("stays with its agent through an outage of the server", async () => {
    const { agentOf, states } = await setUp();
    const agent = await agentOf();
    await agent.begin((await agent.offered()) as string);
    api.world.clock.advance(hourMs);
    await markListening(api.world.services);
    await loseUnseenAgents(api.world.services);
    assert.deepEqual(await states(), ["running"]);
    await pass(minuteMs);
    await loseUnseenAgents(api.world.services);
    assert.deepEqual(await states(), ["running"], "three full intervals again");
  });

  it("is stopped after the time-out of its step", async () => {
    const { agentOf, build, states } = await setUp({ timeout_in_minutes: 5 });
    for (const [version, state] of [
      ["3.20.0", "canceling"],
      ["3.137.0", "timing_out"],
    ] as const) {
      const agent = await agentOf({ version });
      const jobId = await agent.offered();
      if (!jobId) continue;
      const { token: jobToken } = await agent.begin(jobId);
      await timeOutJobs(api.world.services);
      assert.deepEqual(await states(), ["running"]);
      api.world.clock.advance(6 * minuteMs);
      await timeOutJobs(api.world.services);
      assert.equal((await agent.send("GET", `/jobs/${jobId}`, undefined, jobToken)).body.state, state);
      await agent.finish(jobId, -1, jobToken);
    }
    const { state, jobs } = await build();
    assert.deepEqual([state, jobs[0].state], ["failed", "timed_out"]);
  });

  it("expires when nobody takes it", async () => {
    const { build } = await setUp();
    api.world.clock.advance(31 * dayMs);
    await expireJobs(api.world.services);
    const { state, jobs } = await build();
    assert.deepEqual([state, jobs[0].state], ["failed", "expired"]);
  });

  it("is not reserved while its queue is paused, and one reserved before carries on", async () => {
    const { agentOf, queue, build } = await setUp({}, {});
    const [one, two] = [await agentOf(), await agentOf()] as [ScriptedAgent, ScriptedAgent];
    const jobId = (await one.offered()) as string;
    await api.send("POST", `${api.queues}/${queue.id}/pause_dispatch`);
    assert.equal(await two.offered(), undefined);
    const { token: jobToken } = await one.begin(jobId);
    await one.finish(jobId, 0, jobToken);
    assert.equal(await one.offered(), undefined);
    await api.send("POST", `${api.queues}/${queue.id}/resume_dispatch`);
    await two.runOne();
    assert.equal((await build()).state, "passed");
  });

  it("is acquired by its id", async () => {
    const { agentOf, build, queue } = await setUp({}, { type: "wait" }, {});
    const agent = await agentOf({ ignore_in_dispatches: true });
    const [first, , last] = (await build()).jobs;
    assert.equal(await agent.offered(), undefined);
    assert.equal((await agent.send("PUT", `/jobs/${last.id}/acquire`)).status, 423);
    await api.send("POST", `${api.queues}/${queue.id}/pause_dispatch`);
    assert.equal((await agent.send("PUT", `/jobs/${first.id}/acquire`)).status, 423);
    await api.send("POST", `${api.queues}/${queue.id}/resume_dispatch`);
    const acquired = await agent.send("PUT", `/jobs/${first.id}/acquire`);
    assert.equal(acquired.status, 200);
    const other = await agentOf({ ignore_in_dispatches: true });
    assert.equal((await other.send("PUT", `/jobs/${first.id}/acquire`)).status, 422);
    await agent.send("PUT", `/jobs/${first.id}/start`, {}, acquired.body.token);
    await agent.finish(first.id, 0, acquired.body.token);
    assert.equal((await build()).jobs[0].state, "passed");
  });

  it("that is retried goes to another agent, or to the warmest, by the queue's affinity", async () => {
    api.world.clock.freeze(); // else the affinity ends after 10 s of it
    const rule = { automatic: [{ exit_status: "*" as const, limit: 5 }] };
    const { agentOf, queue } = await setUp({ retry: rule });
    await api.send("PUT", `${api.queues}/${queue.id}`, {
      body: { retry_agent_affinity: "prefer-different" },
    });
    const [one, two] = [await agentOf(), await agentOf()] as [ScriptedAgent, ScriptedAgent];
    assert.ok(await one.runOne(1));
    assert.equal(await one.offered(), undefined, "it failed the job");
    assert.ok(await two.runOne(1));
    assert.equal(await two.offered(), undefined);
    await one.send("POST", "/disconnect");
    assert.ok(await two.runOne(1), "no other is connected");

    await api.send("PUT", `${api.queues}/${queue.id}`, { body: { retry_agent_affinity: "prefer-warmest" } });
    const three = await agentOf();
    assert.equal(await three.offered(), undefined, "the other finished a job last");
    assert.ok(await two.runOne(1));
    api.world.clock.advance(11 * secondMs);
    assert.ok(await three.offered(), "the warmest did not ask");
  });

  it("is taken back from an agent that pings while it should run it", async () => {
    const { agentOf, states } = await setUp();
    const agent = await agentOf();
    await agent.begin((await agent.offered()) as string);
    assert.equal(await agent.offered(), undefined);
    assert.deepEqual(await states(), ["running"]);
    api.world.clock.advance(2 * minuteMs);
    await agent.ping();
    assert.deepEqual(await states(), ["scheduled"]);
    assert.ok(await agent.runOne());
  });
});
