import assert from "node:assert/strict";
import { it } from "node:test";
import { agentTokenOf, openAgentApi, startAgent } from "../helpers/agent.ts";
import { openApi, timestamp } from "../helpers/api.ts";
import { describeOnSqlite, describeWorldOn, sqlite } from "../helpers/databases.ts";

describeWorldOn(sqlite, "cancel_on_build_failing", openAgentApi, (api) => {
  const cancels = { cancel_on_build_failing: true };
  const make = async (...steps: (object | string)[]) => {
    const { read, states, newAgent } = await api.buildOnQueue(...steps);
    return {
      read: async () => ({ state: (await read()).state, jobs: await states() }),
      start: () => newAgent(),
    };
  };

  it("cancels unfinished jobs of the step once a job fails, and of no other step", async () => {
    const { read, start } = await make(
      { command: "fails" },
      { command: "slow", ...cancels, parallelism: 2 },
      { command: "other" },
      "wait",
      { command: "behind", ...cancels },
    );
    const agent = await start();
    const runner = await start();
    const failing = (await agent.offered()) as string;
    const { token } = await agent.begin(failing);
    const slow = (await runner.offered()) as string;
    const running = await runner.begin(slow);
    await agent.finish(failing, 1, token);

    assert.deepEqual(await read(), {
      state: "failing",
      jobs: ["failed", "canceling", "canceled", "scheduled", "waiting", "canceled"],
    });
    await runner.finish(slow, 1, running.token);
    await agent.runOne(0);
    assert.deepEqual(await read(), {
      state: "failed",
      jobs: ["failed", "canceled", "canceled", "passed", "waiting_failed", "canceled"],
    });
  });

  it("ends the build failed, if nothing else runs", async () => {
    const { read, start } = await make({ command: "fails" }, { command: "slow", ...cancels });
    await (await start()).runOne(1);
    assert.deepEqual(await read(), { state: "failed", jobs: ["failed", "canceled"] });
  });

  it("cancels jobs behind a block and beside an input, once a failure leaves only people", async () => {
    const { read, start } = await make(
      { command: "fails" },
      { input: "Name?", key: "name" },
      { command: "named", ...cancels, depends_on: "name" },
      { command: "other", depends_on: "name" },
    );
    await (await start()).runOne(1);
    assert.deepEqual(await read(), { state: "failed", jobs: ["failed", "blocked", "canceled", "blocked"] });
  });

  it("lets jobs wait for people while blocked_state alone says failed", async () => {
    const { read } = await make(
      { input: "Name?", key: "name", blocked_state: "failed" },
      { command: "named", ...cancels, depends_on: "name" },
    );
    assert.deepEqual(await read(), { state: "failed", jobs: ["blocked", "blocked"] });
  });

  it("cancels nothing after a soft failure, or one that is retried", async () => {
    const { read, start } = await make(
      { command: "soft", soft_fail: true },
      { command: "again", retry: { automatic: { exit_status: "*", limit: 1 } } },
      { command: "slow", ...cancels },
    );
    const agent = await start();
    await agent.runOne(1);
    await agent.runOne(1);
    assert.equal((await read()).jobs.at(-1), "scheduled");
  });
});

describeOnSqlite("a build that is failing before its first job starts", (database) => {
  it("has the time of its start all the same", async () => {
    const api = await openApi(database);
    const { slug } = await api.newPipeline({ steps: [{ command: "a" }, { command: "b" }] });
    const path = `/pipelines/${slug}/builds`;
    const { jobs } = (await api.send("POST", path, { body: {} })).body;
    await api.send("PUT", `${path}/1/jobs/${jobs[0].id}/cancel`);
    assert.equal((await api.send("GET", `${path}/1`)).body.state, "failing");

    const agent = await startAgent(api.world.url, await agentTokenOf(api.world, api.acme.cluster));
    await agent.runOne();

    const { state, started_at } = (await api.send("GET", `${path}/1`)).body;
    assert.equal(state, "failed");
    assert.match(started_at, timestamp);
    await api.close();
  });

  it("is scheduled once the failed job is retried, and starts with its first job", async () => {
    const api = await openApi(database);
    const { slug } = await api.newPipeline({ steps: [{ command: "a" }, { command: "b" }] });
    const path = `/pipelines/${slug}/builds`;
    const { jobs } = (await api.send("POST", path, { body: {} })).body;
    const facts = async () => {
      const { state, started_at } = (await api.send("GET", `${path}/1`)).body;
      return [state, started_at !== null];
    };
    await api.send("PUT", `${path}/1/jobs/${jobs[0].id}/cancel`);
    await api.send("PUT", `${path}/1/jobs/${jobs[0].id}/retry`);
    assert.deepEqual(await facts(), ["scheduled", false]);

    const agent = await startAgent(api.world.url, await agentTokenOf(api.world, api.acme.cluster));
    await agent.runOne();

    assert.deepEqual(await facts(), ["running", true]);
    await api.close();
  });
});
