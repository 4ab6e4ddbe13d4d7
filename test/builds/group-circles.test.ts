import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { beforeEach, it } from "node:test";
import { secondMs } from "../../shared/durations.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openChain } from "./triggers/open-chain.ts";

describeWorld("an ordered concurrency group", openChain, (chain) => {
  let made = 0;
  let x = "";
  let y = "";

  beforeEach(() => {
    x = `x ${++made}`;
    y = `y ${made}`;
  });

  const grouped = (key: string, concurrency_group: string, more: object = {}) => ({
    key,
    command: key,
    concurrency: 1,
    concurrency_group,
    ...more,
  });
  const wait = { type: "wait" };
  const build = async (steps: object[]) => {
    const slug = await chain.newPipeline(steps);
    const body = { commit: "HEAD", branch: "main" };
    return { slug, ...(await chain.send("POST", `/pipelines/${slug}/builds`, { body })) };
  };
  const problem = (group: string, names: string) =>
    `Steps wait for each other by the order of the concurrency group "${group}", so that they could never start: ${names}`;
  const refuses = async (steps: object[], group: string, names: string) => {
    const { status, body } = await build(steps);
    assert.deepEqual([status, body.message], [422, `Validation failed: ${problem(group, names)}`]);
  };
  const runs = async (steps: object[], jobs: number) => {
    const { slug, status, text } = await build(steps);
    assert.equal(status, 201, text);
    for (let run = 0; run < jobs; run++) assert.ok(await chain.run(), `job ${run + 1}`);
    return slug;
  };
  const upload = async (jobId: string, token: string, steps: object[]) => {
    const sent = { uuid: randomUUID(), pipeline: { steps } };
    const answer = await chain.agent.send("POST", `/jobs/${jobId}/pipelines`, sent, token);
    await chain.settle();
    return answer;
  };
  const begin = async () => {
    const id = (await chain.agent.offered()) as string;
    return { id, ...(await chain.agent.begin(id)) };
  };

  it("takes no job that depends on a later one", async () => {
    await refuses([grouped("a", x, { depends_on: "b" }), grouped("b", x)], x, "a, b");
    const named = grouped("a", x, { depends_on: ["b"], key: undefined, label: "First" });
    await refuses([named, { command: "between" }, grouped("b", x, { parallelism: 2 })], x, "First, b");
  });

  it("takes no two groups that are crossed", async () => {
    const steps = [
      grouped("a", x, { depends_on: "d" }),
      grouped("b", y, { depends_on: "c" }),
      grouped("c", x),
      grouped("d", y),
    ];
    await refuses(steps, x, "a, b, c, d");
  });

  it("takes no job that depends on a later one through a group's key, a wait or another step", async () => {
    const inner = [{ command: "first" }, wait, grouped("b", x)];
    const group = { group: "All", key: "all", steps: inner };
    await refuses([grouped("a", x, { depends_on: "all" }), group], x, "a, b");
    const through = { key: "through", command: "c", depends_on: "b" };
    await refuses([grouped("a", x, { depends_on: "through" }), through, grouped("b", x)], x, "a, b");
  });

  it("counts those ahead against the limit of a job", async () => {
    const two = { concurrency: 2 };
    const onC = { ...two, depends_on: "c" };
    await refuses([grouped("a", x, onC), grouped("b", x, onC), grouped("c", x, two)], x, "a, b, c");
    await runs([grouped("a", y, onC), grouped("b", y, two), grouped("c", y, two)], 3);
  });

  it("takes jobs that overtake, are left out, or wait for people first", async () => {
    const eager = { concurrency_method: "eager" };
    await runs([grouped("a", x, { ...eager, depends_on: "b" }), grouped("b", x, eager)], 2);
    await runs([grouped("a", x, { depends_on: "b", if: "false" }), grouped("b", x)], 1);
    await runs([grouped("b", x), grouped("a", x, { depends_on: "b" })], 2);
    const input = { input: "Go?", key: "go" };
    await runs([input, grouped("a", x, { depends_on: ["go", "b"] }), grouped("b", x)], 1);
  });

  it("takes no uploaded jobs that could never start, or that keep others from it", async () => {
    await build([
      { command: "upload" },
      grouped("later", x, { depends_on: "other" }),
      { key: "other", command: "o" },
    ]);
    const { id, token } = await begin();
    const own = await upload(id, token, [grouped("a", y, { depends_on: "b" }), grouped("b", y)]);
    assert.deepEqual([own.status, own.body.message], [422, problem(y, "a, b")]);
    const ahead = await upload(id, token, [grouped("a", x, { depends_on: "later" })]);
    assert.deepEqual([ahead.status, ahead.body.message], [422, problem(x, "a, later")]);
    assert.ok(
      (await upload(id, token, [grouped("a", x), grouped("b", x, { depends_on: "a" })])).status < 300,
    );
    await chain.agent.finish(id, 0, token);
    await chain.settle();
    const jobs = [await chain.run(), await chain.run(), await chain.run(), await chain.run()];
    assert.ok(jobs.every((job) => job !== undefined));
  });

  it("keeps steps in their order, however deep they were uploaded", async () => {
    const { slug } = await build([
      { command: "upload" },
      { key: "slow", command: "slow", agents: { queue: (await chain.api.newQueue()).key } },
      grouped("later", x, { depends_on: "slow" }),
    ]);
    for (const steps of [[{ command: "again" }], [grouped("deep", x)]]) {
      chain.api.world.clock.advance(secondMs);
      const { id, token } = await begin();
      assert.ok((await upload(id, token, steps)).status < 300);
      await chain.agent.finish(id, 0, token);
      await chain.settle();
    }
    // It is not behind the later one, which cannot start yet.
    assert.equal(await chain.run(), (await chain.show(slug)).jobs[2].id);
    await chain.must("PUT", `/pipelines/${slug}/builds/1/cancel`);
  });

  it("lets a build end whose jobs are behind one with a key that never comes", async () => {
    const missing = grouped("a", x, { depends_on: "never" });
    const alone = await runs([missing, grouped("b", x)], 1);
    assert.deepEqual(await chain.states(alone), ["failed", "waiting_failed", "passed"]);
    const beside = await runs([{ command: "w" }, missing, grouped("b", x)], 2);
    assert.deepEqual(await chain.states(beside), ["failed", "passed", "waiting_failed", "passed"]);
  });

  it("waits for a key that a job of a group may still upload", async () => {
    const { slug } = await build([grouped("a", x), grouped("b", y, { depends_on: "soon" })]);
    const { id, token } = await begin();
    assert.deepEqual(await chain.states(slug), ["running", "running", "waiting"]);
    assert.ok((await upload(id, token, [{ key: "soon", command: "s" }])).status < 300);
    await chain.agent.finish(id, 0, token);
    await chain.settle();
    await chain.run();
    await chain.run();
    assert.deepEqual(await chain.states(slug), ["passed", "passed", "passed", "passed"]);
  });
});
