import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, beforeEach, it } from "node:test";
import { openChain } from "../builds/triggers/open-chain.ts";
import { agentTokenOf, startAgent } from "../helpers/agent.ts";
import { describeWorld } from "../helpers/databases.ts";

// No worker runs: nothing but the transactions that schedule jobs marks them.

describeWorld("a job that is scheduled on a paused queue", openChain, (chain) => {
  let token: string;
  let queue: { id: string; key: string };
  let made = 0;

  before(async () => {
    token = await agentTokenOf(chain.api.world, chain.api.acme.cluster);
  });
  beforeEach(async () => {
    queue = await chain.api.newQueue();
  });

  const paused = (more: object = {}) => ({ command: "b", agents: { queue: queue.key }, ...more });
  const dispatch = (verb: "pause" | "resume") =>
    chain.must("POST", `${chain.api.queues}/${queue.id}/${verb}_dispatch`);
  const agentOf = () =>
    startAgent(chain.api.world.url, token, { meta_data: [`queue=${queue.key}`], name: `marks-${++made}` });
  /** The numbers of builds whose waiting jobs are not all on paused queues. */
  const unpaused = async (slug: string) => {
    const builds = await chain.must("GET", `/pipelines/${slug}/builds?include_paused=false`);
    return builds.map(({ number }: { number: number }) => number);
  };

  it("is marked with a new build, and with the build of a trigger step", async () => {
    await dispatch("pause");
    const target = await chain.newPipeline([paused()]);
    const parent = await chain.newPipeline([{ trigger: target, async: true }]);
    await chain.build(target);
    await chain.build(parent);
    await chain.api.build((await chain.must("GET", `/pipelines/${target}`)).id, 2);
    assert.equal((await chain.builds(target)).length, 4);
    assert.deepEqual(await unpaused(target), []);

    const both = await chain.newPipeline([paused(), { command: "a" }]);
    await chain.build(both);
    assert.deepEqual(await unpaused(both), [1]);
    await chain.run();
    assert.deepEqual(await unpaused(both), []);
  });

  it("is marked behind a wait, in a group, and as a retry", async () => {
    const concurrency = { concurrency: 1, concurrency_group: "marks" };
    const behind = await chain.newPipeline([{ command: "a" }, "wait" as never, paused()]);
    const grouped = await chain.newPipeline([{ command: "a" }, "wait" as never, paused(concurrency)]);
    const first = await chain.newPipeline([paused(concurrency)]);
    const retried = await chain.newPipeline([paused()]);
    await chain.build(retried);
    await (await agentOf()).runOne(1);
    await dispatch("pause");

    for (const slug of [behind, grouped]) {
      await chain.build(slug);
      assert.deepEqual(await unpaused(slug), [1]);
      await chain.run();
      assert.deepEqual(await unpaused(slug), [], slug);
    }
    await chain.must("PUT", `/pipelines/${grouped}/builds/1/cancel`);
    await chain.build(first);
    assert.deepEqual(await unpaused(first), []);

    const [job] = (await chain.show(retried)).jobs;
    await chain.must("PUT", `/pipelines/${retried}/builds/1/jobs/${job.id}/retry`);
    assert.deepEqual(await unpaused(retried), []);
  });

  it("is marked when a job uploads it, and when it comes back from an agent", async () => {
    const uploading = await chain.newPipeline([{ command: "a" }]);
    await chain.build(uploading);
    const back = await chain.newPipeline([paused()]);
    await chain.build(back);
    const other = await agentOf();
    await other.begin((await other.offered()) as string);
    await dispatch("pause");

    const jobId = (await chain.agent.offered()) as string;
    const begun = await chain.agent.begin(jobId);
    const upload = { uuid: randomUUID(), pipeline: { steps: [paused()] } };
    const { status } = await chain.agent.send("POST", `/jobs/${jobId}/pipelines`, upload, begun.token);
    assert.ok(status < 300);
    await chain.agent.finish(jobId, 0, begun.token);
    await chain.settle();
    assert.deepEqual(await unpaused(uploading), []);

    await other.send("POST", "/disconnect");
    assert.deepEqual(await chain.states(back), ["running", "scheduled"]);
    assert.deepEqual(await unpaused(back), []);
  });

  it("leaves a build that goes on elsewhere unmarked", async () => {
    await dispatch("pause");
    const slug = await chain.newPipeline([
      paused({ key: "b" }),
      { command: "a", key: "a" },
      { command: "c", depends_on: "a" },
    ]);
    await chain.build(slug);
    await chain.run();
    assert.deepEqual(await unpaused(slug), [1]);
    await chain.run();
    assert.deepEqual(await unpaused(slug), []);
  });
});
