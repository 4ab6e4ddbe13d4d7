import assert from "node:assert/strict";
import { it } from "node:test";
import { expireJobs } from "../../shared/agents/expire.ts";
import { loseUnseenAgents, markListening } from "../../shared/agents/lost.ts";
import { dayMs, minuteMs, secondMs } from "../../shared/durations.ts";
import { openAgentApi } from "../helpers/agent.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";

const wait = { type: "wait" };

describeWorld("the states of jobs and builds", withSettings(openAgentApi, { JOB_RESTARTS: "0" }), (api) => {
  const setUp = async (...steps: object[]) => {
    const { path, read, newAgent } = await api.buildOnQueue(...steps);
    const build = () => read("?include_retried_jobs=true");
    const states = async () => {
      const { state, jobs } = await build();
      return [state, ...jobs.map((job: { state: string }) => job.state)].join(" ");
    };
    const change = async (index: number, verb: "retry" | "cancel") =>
      api.send("PUT", `${path}/jobs/${(await build()).jobs[index].id}/${verb}`);
    const cancelBuild = () => api.send("PUT", `${path}/cancel`);
    return { agent: await newAgent(), build, states, change, cancelBuild };
  };

  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 10 * secondMs) {
      api.world.clock.advance(10 * secondMs);
      await markListening(api.world.services);
    }
  };

  it("refuses to retry what has not failed, what was retried, and what the step does not allow", async () => {
    const { agent, change, build } = await setUp(
      {},
      { retry: { manual: { allowed: false, reason: "It deploys" } } },
      { retry: { manual: { permit_on_passed: true } } },
      wait,
    );
    const refusal = async (index: number) => {
      const { status, body } = await change(index, "retry");
      return status === 422 ? body.message : status;
    };
    assert.match(await refusal(0), /it has not finished$/);
    assert.equal(await refusal(3), 404, "a wait");
    await agent.runOne();
    assert.match(await refusal(0), /it has passed$/);
    await agent.runOne(1);
    assert.match(await refusal(1), /It deploys$/);
    await agent.runOne();
    assert.equal(await refusal(2), 200);
    assert.match(await refusal(2), /it has been retried already$/);
    assert.equal((await build()).jobs.length, 5);
  });

  it("accepts one of simultaneous retries", async () => {
    const { agent, change, build } = await setUp({});
    await agent.runOne(1);
    const retries = await Promise.all(Array.from({ length: 5 }, () => change(0, "retry")));
    assert.deepEqual(retries.map(({ status }) => status).sort(), [200, 422, 422, 422, 422]);
    assert.equal((await build()).jobs.length, 2);
  });

  it("refuses a retry while the build is canceled, and reopens it afterwards", async () => {
    const { agent, states, change, cancelBuild } = await setUp({}, {});
    const jobId = (await agent.offered()) as string;
    await agent.begin(jobId);
    await cancelBuild();
    assert.equal(await states(), "canceling canceling canceled");
    const { status, body } = await change(1, "retry");
    assert.deepEqual([status, body.message], [422, "Job cannot be retried: its build is being canceled"]);
    await agent.finish(jobId, -1);
    assert.equal(await states(), "canceled canceled canceled");
    assert.equal((await change(1, "retry")).status, 200);
    assert.match(await states(), /^failing /, "the other canceled job counts");
    await change(0, "retry");
    await agent.runOne();
    await agent.runOne();
    assert.match(await states(), /^passed /);
  });

  it("retries a job that expired, in a build that never started", async () => {
    const { states, change } = await setUp({});
    api.world.clock.advance(31 * dayMs);
    await expireJobs(api.world.services);
    assert.equal(await states(), "failed expired");
    await change(0, "retry");
    assert.equal(await states(), "scheduled expired scheduled");
  });

  it("a job that is canceled while it runs ends with its agent's finish", async () => {
    const { agent, states, change } = await setUp({});
    const jobId = (await agent.offered()) as string;
    const { token: jobToken } = await agent.begin(jobId);
    await change(0, "cancel");
    assert.equal((await change(0, "cancel")).status, 200, "again");
    assert.equal(await states(), "running canceling");
    assert.equal((await agent.send("POST", `/jobs/${jobId}/data/keys`, undefined, jobToken)).status, 200);
    await agent.finish(jobId, 0, jobToken);
    assert.equal(await states(), "failed canceled", "whatever the exit status");
  });

  it("a job that was accepted and canceled before its start never runs", async () => {
    const { agent, states, change } = await setUp({});
    const jobId = (await agent.offered()) as string;
    const accepted = await agent.send("PUT", `/jobs/${jobId}/accept`);
    await change(0, "cancel");
    assert.match(await states(), / canceling$/);
    const started = await agent.send("PUT", `/jobs/${jobId}/start`, {}, accepted.body.token);
    assert.equal(started.status, 200);
    const { body } = await agent.send("GET", `/jobs/${jobId}`, undefined, accepted.body.token);
    assert.equal(body.state, "canceling");
    await agent.finish(jobId, -1, accepted.body.token);
    assert.equal(await states(), "failed canceled");
  });

  it("a job that is being canceled ends when its agent is lost", async () => {
    const { agent, states, change, build } = await setUp({});
    await agent.begin((await agent.offered()) as string);
    await change(0, "cancel");
    await pass(2 * minuteMs);
    await loseUnseenAgents(api.world.services);
    assert.equal(await states(), "failed canceled");
    assert.equal((await build()).jobs[0].exit_status, -1);
  });

  it("a lost session comes back without its job, and takes the next one", async () => {
    const { agent, states } = await setUp({}, {});
    await agent.begin((await agent.offered()) as string);
    await pass(2 * minuteMs);
    await loseUnseenAgents(api.world.services);
    assert.equal(await states(), "failing failed scheduled", "JOB_RESTARTS is 0");
    assert.ok(await agent.runOne(), "a ping is enough");
    assert.equal(await states(), "failed failed passed");
  });

  it("a session that is lost for a day is over", async () => {
    const { agent } = await setUp({});
    await pass(2 * minuteMs);
    await loseUnseenAgents(api.world.services);
    api.world.clock.advance(dayMs);
    await loseUnseenAgents(api.world.services);
    assert.equal((await agent.send("GET", "/ping")).status, 401);
  });

  it("a reserved job of a lost agent goes back, however often", async () => {
    const { agent, states } = await setUp({});
    await agent.offered();
    await pass(2 * minuteMs);
    await loseUnseenAgents(api.world.services);
    assert.equal(await states(), "scheduled scheduled");
    assert.ok(await agent.runOne());
  });
});
