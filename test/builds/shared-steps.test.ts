import assert from "node:assert/strict";
import { before, it } from "node:test";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../helpers/agent.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

const command = "make harbour ".repeat(100);
const step = {
  label: "Build",
  command,
  env: { LIGHT: "on" },
  retry: { automatic: [{ exit_status: [3], limit: 1 }] },
};

describeWorld("a step of several jobs", openApi, (api) => {
  let agent: ScriptedAgent;
  let key: string;
  before(async () => {
    ({ key } = await api.newQueue());
    agent = await startAgent(api.world.url, await agentTokenOf(api.world, api.acme.cluster), {
      meta_data: [`queue=${key}`],
    });
  });

  const newJobs = async (parallelism: number): Promise<{ id: string }[]> => {
    const pipeline = await api.newPipeline({ steps: [{ ...step, parallelism, agents: { queue: key } }] });
    await api.build(pipeline.id);
    return (await api.send("GET", `/pipelines/${pipeline.slug}/builds/1`)).body.jobs;
  };
  it("reaches agents whole, and retries of its jobs refer to it", async () => {
    const jobs = await newJobs(2);
    const started: string[] = [];
    for (const expected of jobs) {
      const jobId = (await agent.offered()) as string;
      const { env, token } = await agent.begin(jobId);
      assert.equal(jobId, expected.id);
      assert.equal(env.BUILDKITE_COMMAND, command);
      assert.equal(env.BUILDKITE_LABEL, "Build");
      assert.equal(env.BUILDKITE_PARALLEL_JOB, String(started.length));
      assert.equal(env.BUILDKITE_PARALLEL_JOB_COUNT, "2");
      assert.equal(env.LIGHT, "on");
      assert.equal((await agent.finish(jobId, 3, token)).status, 200);
      started.push(jobId);
    }

    const retries = [(await agent.offered()) as string];
    const { env } = await agent.begin(retries[0] as string);
    assert.equal(env.BUILDKITE_COMMAND, command);
    assert.equal(env.BUILDKITE_RETRY_COUNT, "1");
    await agent.finish(retries[0] as string, 3);
    await agent.runOne();
    assert.equal(await agent.offered(), undefined, "the rule allows one retry");
  });
});
