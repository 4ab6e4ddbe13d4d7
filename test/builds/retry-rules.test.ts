import assert from "node:assert/strict";
import { it } from "node:test";
import { timeOutJobs } from "../../shared/agents/expire.ts";
import { minuteMs } from "../../shared/durations.ts";
import { openAgentApi } from "../helpers/agent.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";

interface Ending {
  exit_status: string;
  signal?: string;
  signal_reason?: string;
}

const failed = { exit_status: "1" };
const lost = { exit_status: "-1" };
const killed = { exit_status: "-1", signal: "SIGKILL", signal_reason: "agent_stop" };

describeWorldOn(sqlite, "retry.automatic", openAgentApi, (api) => {
  const setUp = async (automatic: unknown, more: object = {}) => {
    const { pipeline, newAgent } = await api.buildOnQueue({ retry: { automatic }, ...more });
    const agent = await newAgent();
    const finish = async (ending: Ending) => {
      const jobId = await agent.offered();
      assert.ok(jobId, "no job is left");
      const { token: jobToken } = await agent.begin(jobId);
      const { status } = await agent.send("PUT", `/jobs/${jobId}/finish`, ending, jobToken);
      assert.equal(status, 200);
    };
    return { agent, pipeline, finish };
  };

  /** Returns true if a job that ends like this is retried. */
  const retries = async (automatic: unknown, ending: Ending) => {
    const { agent, finish } = await setUp(automatic);
    await finish(ending);
    return (await agent.offered()) !== undefined;
  };

  it("takes signal and signal_reason for conditions", async () => {
    const rule = { signal_reason: "agent_stop" };
    assert.equal(await retries(rule, failed), false);
    assert.equal(await retries(rule, lost), false);
    assert.equal(await retries(rule, killed), true);
    assert.equal(await retries({ signal: "kill" }, killed), true);
    assert.equal(await retries({ signal: "sigterm" }, killed), false);
    assert.equal(await retries({ signal: "none", signal_reason: "none" }, failed), true);
    assert.equal(await retries({ signal: "none" }, killed), false);
  });

  it("retries only if all conditions of a rule hold", async () => {
    assert.equal(await retries({ exit_status: 1, signal_reason: "agent_stop" }, killed), false);
    assert.equal(await retries({ exit_status: "-1", signal: ["TERM", "KILL"] }, killed), true);
    assert.equal(await retries({ exit_status: "*", signal: "*", signal_reason: "*" }, failed), true);
  });

  it("takes * and no exit status for all but 0", async () => {
    assert.equal(await retries({ exit_status: "*" }, lost), true);
    assert.equal(await retries({ exit_status: "*" }, { exit_status: "255" }), true);
    assert.equal(await retries({ exit_status: "*" }, { exit_status: "256" }), true);
    assert.equal(await retries({ exit_status: ["*", -1] }, lost), true);
    assert.equal(await retries({ exit_status: ["*", -1] }, failed), true);
    assert.equal(await retries({ exit_status: ["-1", "*"] }, { exit_status: "256" }), true);
    assert.equal(await retries(true, lost), true);
    assert.equal(await retries({ limit: 1 }, lost), true);
  });

  it("lets the first rule that matches decide, also with limit 0", async () => {
    const rules = [{ signal_reason: "agent_stop", limit: 0 }, { limit: 1 }];
    assert.equal(await retries(rules, killed), false);
    assert.equal(await retries(rules, failed), true);
  });

  it("counts the retries of each rule", async () => {
    const { agent, finish } = await setUp([
      { exit_status: 1, limit: 2 },
      { exit_status: -1, limit: 1 },
    ]);
    await finish(failed);
    await finish(lost);
    await finish(failed);
    await finish(failed);
    assert.equal(await agent.offered(), undefined);
  });

  it("retries what timed out, and never what was canceled", async () => {
    const timedOut = await setUp(true, { timeout: 5 });
    const canceled = await setUp(true);

    const jobId = (await timedOut.agent.offered()) as string;
    const { token: jobToken } = await timedOut.agent.begin(jobId);
    api.world.clock.advance(5 * minuteMs);
    await timeOutJobs(api.world.services);
    await timedOut.agent.send("PUT", `/jobs/${jobId}/finish`, killed, jobToken);
    const canceledId = (await canceled.agent.offered()) as string;
    const { token: canceledToken } = await canceled.agent.begin(canceledId);
    const job = `/pipelines/${canceled.pipeline.slug}/builds/1/jobs/${canceledId}`;
    await api.send("PUT", `${job}/cancel`);
    await canceled.agent.send("PUT", `/jobs/${canceledId}/finish`, killed, canceledToken);

    const retried = await timedOut.agent.offered();
    assert.ok(retried && retried !== jobId);
    assert.equal(await canceled.agent.offered(), undefined);
  });
});
