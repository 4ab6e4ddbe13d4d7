import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, it } from "node:test";
import { secondMs } from "../../../shared/durations.ts";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../../helpers/agent.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";

describeWorld("the order of a queue's jobs", openApi, (api) => {
  let token: string;

  before(async () => {
    token = await agentTokenOf(api.world, api.acme.cluster);
  });

  const setUp = async () => {
    const queue = await api.newQueue();
    const on = (step: object) => ("wait" in step ? step : { agents: { queue: queue.key }, ...step });
    /** Makes a build a second later than the one before. */
    const build = async (...steps: object[]) => {
      api.world.clock.advance(secondMs);
      const pipeline = await api.newPipeline({ steps: steps.map(on) });
      await api.build(pipeline.id);
    };
    const agentOf = (more: object = {}, tags: string[] = []) =>
      startAgent(api.world.url, token, { meta_data: [`queue=${queue.key}`, ...tags], ...more });
    const upload = (agent: ScriptedAgent, job: string, by: string, ...steps: object[]) =>
      agent.send(
        "POST",
        `/jobs/${job}/pipelines`,
        { uuid: randomUUID(), pipeline: { steps: steps.map(on) } },
        by,
      );
    /** Takes all jobs, one after the other. Returns their commands. */
    const takeAll = async (agent: ScriptedAgent) => {
      const taken: string[] = [];
      for (let job = await agent.offered(); job; job = await agent.offered()) {
        const { env, token } = await agent.begin(job);
        taken.push(env.BUILDKITE_COMMAND ?? "");
        await agent.finish(job, 0, token);
      }
      return taken.join(" ");
    };
    return { queue, build, agentOf, upload, takeAll };
  };

  it("is by priority over all pipelines, then by age, then that of their steps", async () => {
    const { build, agentOf, takeAll } = await setUp();
    await build({ command: "a", priority: -1 }, { command: "b" }, { command: "c", priority: 2 });
    await build(
      { command: "d", priority: 2 },
      { command: "e", priority: 10 },
      { command: "f", priority: -2 },
    );
    await build({ command: "g", priority: 0 }, { command: "h", priority: -1 });

    assert.equal(await takeAll(await agentOf()), "e c d b g a h f");
  });

  it("is one order for jobs of all kinds that an agent may take", async () => {
    const { queue, build, agentOf, takeAll } = await setUp();
    const on = (...tags: string[]) => ({ agents: [`queue=${queue.key}`, ...tags] });
    await build(
      { command: "a", ...on("os=linux") },
      { command: "b", ...on() },
      { command: "c", ...on("os") },
    );
    await build({ command: "d", priority: 1, ...on("os") }, { command: "e", ...on() });

    assert.equal(await takeAll(await agentOf({}, ["os=linux"])), "d a b c e");
  });

  it("has jobs behind a wait by the time at which they could start", async () => {
    const { build, agentOf, takeAll } = await setUp();
    await build({ command: "a" }, { wait: null }, { command: "late" });
    await build({ command: "b" });
    const agent = await agentOf();
    const first = (await agent.offered()) as string;
    api.world.clock.advance(secondMs);
    await agent.begin(first);
    await agent.finish(first);
    await build({ command: "c" });

    assert.equal(await takeAll(agent), "b late c");
  });

  it("gives uploaded jobs, and what they upload, the place of the job that uploaded them", async () => {
    const { build, agentOf, upload, takeAll } = await setUp();
    await build({ command: "upload" });
    await build({ command: "other" }, { command: "urgent", priority: 1 });
    const agent = await agentOf();
    const urgent = (await agent.offered()) as string;
    await agent.begin(urgent);
    await agent.finish(urgent);
    const first = (await agent.offered()) as string;
    const one = await agent.begin(first);
    api.world.clock.advance(10 * secondMs);
    await upload(
      agent,
      first,
      one.token,
      { command: "upload more" },
      { command: "a" },
      { wait: null },
      { command: "b" },
    );
    await agent.finish(first, 0, one.token);
    const second = (await agent.offered()) as string;
    const two = await agent.begin(second);
    assert.equal(two.env.BUILDKITE_COMMAND, "upload more");
    await upload(agent, second, two.token, { command: "c" });
    await agent.finish(second, 0, two.token);

    assert.equal(await takeAll(agent), "a c b other");
  });

  it("leaves a job to a free agent of a higher priority that may take it, for five seconds", async () => {
    const { build, agentOf } = await setUp();
    const [low, plain, high] = [
      await agentOf({ priority: "1" }),
      await agentOf(),
      await agentOf({ priority: "5" }),
    ];
    await build({ command: "a" });
    for (const agent of [low, plain, low]) assert.equal(await agent.offered(), undefined);
    const first = await high.offered();
    assert.ok(first);

    await build({ command: "b" });
    assert.equal(await plain.offered(), undefined, "the other one is free");
    assert.ok(await low.offered(), "the first one has a job");

    await high.begin(first);
    await high.finish(first);
    await build({ command: "c" });
    api.world.clock.advance(4 * secondMs);
    assert.equal(await plain.offered(), undefined);
    api.world.clock.advance(secondMs);
    assert.ok(await plain.offered(), "after five seconds");
  });

  it("does not wait for an agent of a higher priority that lacks a tag, is paused, stops or is gone", async () => {
    const { queue, build, agentOf } = await setUp();
    const low = await agentOf({}, ["os=linux"]);
    const high = await agentOf({ priority: "5" }, ["os=mac"]);
    const step = { command: "a", agents: { queue: queue.key, os: "linux" } };
    await build(step);
    assert.ok(await low.runOne(), "lacks a tag");

    await api.send("PUT", `/agents/${high.id}/pause`, { body: {} });
    await build({ command: "b" });
    assert.ok(await low.runOne(), "paused");
    await api.send("PUT", `/agents/${high.id}/resume`, { body: {} });
    await build({ command: "c" });
    assert.equal(await low.runOne(), undefined);
    await high.send("POST", "/disconnect");
    assert.ok(await low.runOne(), "gone");
  });

  it("gives agents that ask together their jobs by the agents' priority", async () => {
    const { build, agentOf } = await setUp();
    const agents = await Promise.all(["1", "9", undefined, "5"].map((priority) => agentOf({ priority })));
    await build({ command: "a" }, { command: "b" });

    const offered = await Promise.all(agents.map((agent) => agent.offered()));

    assert.deepEqual(
      offered.map((job) => job !== undefined),
      [false, true, false, true],
    );
  });
});
