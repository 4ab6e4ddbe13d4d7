import assert from "node:assert/strict";
import { it } from "node:test";
import { endForcedJobs } from "../../../shared/agents/expire.ts";
import { listJobsById } from "../../../shared/agents/lease-store.ts";
import { issueReadingToken } from "../../../shared/builds/meta-data/meta-data.ts";
import { secondMs } from "../../../shared/durations.ts";
import { openApi, unknownId } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { enterJob } from "./in-a-job.ts";

describeWorld("cancels from inside a job", openApi, (api) => {
  const enter = (...steps: (string | object)[]) => enterJob(api, ...steps);
  const findJob = async (id: string) => {
    const [job] = await listJobsById(api.world.services.db, { ids: [id] });
    assert.ok(job);
    return job;
  };
  const endForced = async (seconds: number) => {
    api.world.clock.advance(seconds * secondMs);
    await endForcedJobs(api.world.services);
  };

  it("POST /v3/steps/{step}/cancel cancels the unfinished jobs of the step alone", async () => {
    const { send, build, states, newAgent } = await enter(
      { command: "first", label: "Guard" },
      { command: "a", key: "a", parallelism: 3 },
      { command: "last" },
    );
    const agent = await newAgent();
    await agent.runOne();
    const running = (await agent.offered()) as string;
    const { token } = await agent.begin(running);

    const { status, body } = await send("POST", "/steps/a/cancel", { force: false, force_grace_period: 15 });

    const { jobs } = await build();
    assert.deepEqual([status, body], [200, { uuid: jobs[1].step.id }]);
    assert.deepEqual(await states(), ["running", "passed", "canceling", "canceled", "scheduled"]);
    assert.match((await findJob(running)).failureReason ?? "", /^Canceled by the job “Guard” of /);
    assert.equal((await agent.finish(running, -1, token)).status, 200);
    assert.equal((await agent.finish(running, -1, token)).status, 200, "repeated");
    assert.equal((await build()).jobs[2].state, "canceled");
    assert.match((await findJob(running)).failureReason ?? "", /^Canceled by the job “Guard” of /);
    assert.equal((await send("POST", "/steps/a/cancel", {})).status, 200, "nothing is left to cancel");
  });

  it("with force ends the jobs after the grace, whatever their agents do, and frees the agents", async () => {
    const { send, states, newAgent, build } = await enter(
      { command: "first" },
      { command: "a", key: "a" },
      { command: "last" },
    );
    const agent = await newAgent();
    const stuck = (await agent.offered()) as string;
    const { token } = await agent.begin(stuck);

    await send("POST", "/steps/a/cancel", { force: true, force_grace_period: 30 });
    await endForced(29);
    assert.deepEqual(await states(), ["running", "canceling", "scheduled"]);
    await endForced(2);

    assert.deepEqual(await states(), ["running", "canceled", "scheduled"]);
    assert.equal((await build()).state, "failing");
    const state = await agent.send("GET", `/jobs/${stuck}`, undefined, token);
    assert.equal(state.body?.state ?? state.status, "canceled");
    await agent.finish(stuck, 0, token);
    assert.deepEqual(await states(), ["running", "canceled", "scheduled"]);
    assert.ok(await agent.runOne(), "the agent takes the next job");
  });

  it("can be made forced later, and an agent that ends its job in time ends it as before", async () => {
    const { send, states, newAgent } = await enter({ command: "first" }, { command: "a", key: "a" });
    const agent = await newAgent();
    const job = (await agent.offered()) as string;
    const { token } = await agent.begin(job);
    await send("POST", "/steps/a/cancel", {});
    await send("POST", "/steps/a/cancel", { force: true, force_grace_period: 30 });

    await agent.finish(job, 143, token);
    await endForced(60);

    assert.deepEqual(await states(), ["running", "canceled"]);
    assert.equal((await findJob(job)).exitStatus, 143);
    assert.equal((await findJob(job)).endsAt, null);
  });

  it("cancels waiting jobs of a step: those behind it never start", async () => {
    const { send, build, finish } = await enter(
      { command: "first" },
      "wait",
      { command: "a", key: "a" },
      { command: "behind", depends_on: "a" },
    );
    await send("POST", "/steps/a/cancel", {});
    await finish();
    const { state, jobs } = await build();
    assert.equal(state, "failed");
    assert.equal(jobs[3].state, "waiting_failed");
  });

  it("POST /v3/builds/{build}/cancel cancels a build of the cluster, and names the job in it", async () => {
    const other = await enter({ command: "b" }, { command: "c" });
    const { send } = await enter({ command: "a", label: "Guard" });

    const { status, body } = await send("POST", `/builds/${other.buildId}/cancel`);

    assert.deepEqual([status, body], [200, { uuid: other.buildId }]);
    const { state, cancel_reason } = await other.build();
    assert.equal(state, "canceling");
    assert.match(cancel_reason, /^Canceled by the job “Guard” of .* #1$/);
    await other.finish();
    assert.equal((await other.build()).state, "canceled");
    assert.equal((await send("POST", `/builds/${other.buildId}/cancel`)).status, 422);
    assert.equal((await send("POST", `/builds/${unknownId}/cancel`)).status, 404);
  });

  it("cancels a build that waits for people, which keeps the reason", async () => {
    const other = await enter({ command: "a" }, { block: "Release?" }, { command: "b" });
    await other.finish();
    assert.equal((await other.build()).blocked, true);
    const { send } = await enter({ command: "a", label: "Guard" });

    assert.equal((await send("POST", `/builds/${other.buildId}/cancel`)).status, 200);

    const { state, blocked, cancel_reason, jobs } = await other.build();
    assert.deepEqual([state, blocked], ["canceled", false]);
    assert.match(cancel_reason, /^Canceled by the job “Guard” of .* #1$/);
    assert.deepEqual(
      jobs.map((job: { state: string }) => job.state),
      ["passed", "canceled", "canceled"],
    );
  });

  it("403 for a token that may only read, 401 once the job has ended", async () => {
    const { job, agent, send, finish, get } = await enter({ command: "a", key: "a" }, { command: "b" });
    const reading = await issueReadingToken(api.world.services, await findJob(job));
    const { buildId } = await enter({ command: "c" });
    for (const [method, path, body] of [
      ["POST", `/builds/${buildId}/cancel`, undefined],
      ["POST", "/steps/a/cancel", {}],
      ["PUT", "/steps/a", { attribute: "label", value: "A" }],
    ] as const) {
      assert.equal((await agent.send(method, path, body, reading)).status, 403, path);
      assert.equal((await agent.send(method, path, body, "none")).status, 401, path);
    }
    const exported = await agent.send("POST", "/steps/a/export", { attribute: "state" }, reading);
    assert.deepEqual(exported.body, { output: "running" });
    await finish();
    assert.equal(await get("a", "state"), 401);
    assert.equal((await send("POST", "/steps/a/cancel", {})).status, 401);
  });

  it("names the person who canceled a job", async () => {
    const { path, job } = await enter({ command: "a" }, { command: "b" });
    await api.send("PUT", `${path}/jobs/${job}/cancel`);
    assert.equal((await findJob(job)).failureReason, `Canceled by ${api.admin.name}`);
  });
});
