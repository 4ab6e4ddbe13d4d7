import assert from "node:assert/strict";
import { it } from "node:test";
import { agentTokenOf, startAgent } from "../helpers/agent.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";

describeWorldOn(sqlite, "a step with secrets", openApi, (api) => {
  const build = async (step: object) => {
    const { key: queue } = await api.newQueue();
    const pipeline = await api.newPipeline({ steps: [{ command: "make", agents: { queue }, ...step }] });
    await api.build(pipeline.id);
    const registration = await agentTokenOf(api.world, api.acme.cluster);
    return {
      agent: (version: string) =>
        startAgent(api.world.url, registration, { meta_data: [`queue=${queue}`], version }),
      jobs: async () =>
        (await api.send("GET", `/pipelines/${pipeline.slug}/builds/1?include_retried_jobs=true`)).body.jobs,
    };
  };
  const secrets = [{ key: "DEPLOY_KEY", environment_variable: "TOKEN" }];

  it("names them to agents, and has none of their values in its variables", async () => {
    const path = `/clusters/${api.acme.cluster.id}/secrets`;
    await api.send("POST", path, { body: { key: "DEPLOY_KEY", value: "swordfish" } });
    const { agent: start } = await build({ secrets: { TOKEN: "DEPLOY_KEY" } });
    const agent = await start("3.106.0");

    const { status, body, text } = await agent.send("PUT", `/jobs/${await agent.offered()}/accept`);

    assert.deepEqual([status, body.step], [200, { secrets }]);
    assert.equal(body.env.TOKEN, undefined);
    assert.doesNotMatch(text, /swordfish/);
  });

  it("has them beside its signature, as they were signed", async () => {
    const signature = { value: "x", algorithm: "EdDSA", signed_fields: ["command", "secrets"] };
    for (const step of [{}, { command: "make {{matrix}}", matrix: ["a"] }]) {
      const { agent: start } = await build({ secrets, signature, ...step });
      const agent = await start("3.137.0");
      const { body } = await agent.send("PUT", `/jobs/${await agent.offered()}/accept`);
      assert.deepEqual([body.step.secrets, body.step.signature], [secrets, signature]);
    }
  });

  it("fails with agent_incompatible at an agent that cannot fetch them, which takes the next job", async () => {
    const { agent: start, jobs } = await build({ secrets });
    const agent = await start("3.105.2");
    const id = await agent.offered();

    const { status, body } = await agent.send("PUT", `/jobs/${id}/accept`);

    const reason = "Its step has secrets, which agents fetch since version 3.106. The agent has 3.105.2";
    assert.deepEqual([status, body.message], [422, `The job has failed. ${reason}`]);
    const [job] = await jobs();
    assert.deepEqual([job.state, job.exit_status, job.signal_reason], ["failed", -1, "agent_incompatible"]);
    assert.equal((await agent.ping()).action, "idle");
    assert.equal((await agent.send("PUT", `/jobs/${id}/accept`)).status, 404);
  });

  it("is retried where a rule names agent_incompatible, and runs at a newer agent", async () => {
    const automatic = [
      { exit_status: "*", signal_reason: "agent_incompatible", limit: 1 },
      { exit_status: -1, signal_reason: "agent_incompatible", limit: 1 },
    ];
    const { agent: start, jobs } = await build({ secrets, retry: { automatic } });
    const [old, recent] = [await start("3.20.0"), await start("4.0.0-beta.1")];

    assert.equal((await old.send("PUT", `/jobs/${await old.offered()}/accept`)).status, 422);
    assert.ok(await recent.runOne());

    const states = (await jobs()).map(({ state }: { state: string }) => state);
    assert.deepEqual(states, ["failed", "passed"]);
  });
});
