import assert from "node:assert/strict";
import { it } from "node:test";
import { openApi, unknownId } from "../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { enterJob } from "./in-a-job.ts";

const json = { format: "JSON" };

describeWorldOn(sqlite, "POST /v3/steps/{step}/export", openApi, (api) => {
  it("has every attribute of a step, by its key and by its id", async () => {
    const { get, key, build, buildId } = await enterJob(
      api,
      { command: "first" },
      {
        command: "make",
        key: "all",
        label: "Make",
        env: { A: "1" },
        depends_on: "later",
        timeout_in_minutes: 7,
        parallelism: 2,
      },
      { command: "later", key: "later", depends_on: [] },
    );
    const step = (await build()).jobs[1].step.id;
    const whole = {
      id: step,
      agents: [`queue=${key}`],
      command: "make",
      depends_on: [{ step: "later" }],
      env: { A: "1" },
      key: "all",
      label: "Make",
      state: "waiting_for_dependencies",
      outcome: "neutral",
      parallelism: 2,
      timeout: 7,
      type: "command",
    };

    assert.deepEqual(JSON.parse(await get("all", undefined, json)), whole);
    assert.deepEqual(JSON.parse(await get(step, "", { ...json, build_id: buildId })), whole);
    assert.equal(await get("all", "label"), "Make");
    assert.equal(await get("all", "label", json), '"Make"');
    assert.equal(await get("all", "timeout"), "7");
    assert.equal(await get("all", "agents", json), JSON.stringify([`queue=${key}`]));
  });

  it("is empty for an attribute without a value", async () => {
    const { get, build } = await enterJob(api, { command: "a" });
    const [{ step }] = (await build()).jobs;
    for (const attribute of ["label", "key", "if", "notify", "concurrency_key", "timeout", "depends_on"])
      assert.equal(await get(step.id, attribute), "", attribute);
  });

  it("400 for lists and whole steps without the format json, and for unknown attributes and formats", async () => {
    const { get } = await enterJob(api, { command: "a", key: "a", env: { A: "1" } });
    assert.equal(await get("a", "env"), 400);
    assert.equal(await get("a"), 400);
    assert.equal(await get("a", "colour"), 400);
    assert.equal(await get("a", "label", { format: "yaml" }), 400);
  });

  it("reads builds of the same cluster; 404 for others and for unknown steps", async () => {
    const { get, buildId } = await enterJob(api, { command: "a", key: "a" });
    const other = await enterJob(api, { command: "b", key: "a", label: "Other" });
    assert.equal(await get("a", "label", { build_id: other.buildId }), "Other");
    assert.equal(await get("b", "label"), 404);
    assert.equal(await get(unknownId, "label"), 404);
    assert.equal(await get("a", "label", { build_id: unknownId }), 404);
    assert.equal(await get("a", "label", { build_id: "no id" }), 404);

    const cluster = await api.newCluster();
    const { key } = await api.newQueue({}, cluster.id);
    const steps = [{ command: "a", agents: { queue: key } }];
    const moved = other.path.replace("/builds/1", "");
    const { status, text } = await api.send("PATCH", moved, { body: { cluster_id: cluster.id, steps } });
    assert.equal(status, 200, text);
    assert.equal(await other.get("a", "label"), "Other", "its own");
    assert.equal(await other.get("a", "label", { build_id: buildId }), 404);
  });

  it("goes through the states of a step, and has an outcome at the end", async () => {
    const inside = await enterJob(
      api,
      { command: "watch" },
      { command: "a", key: "a", retry: { automatic: [{ exit_status: 9, limit: 1 }] } },
      { command: "b", key: "b", parallelism: 2, depends_on: "a" },
      { command: "left out", key: "c", skip: true },
    );
    const standing = async (step: string) =>
      `${await inside.get(step, "state")} ${await inside.get(step, "outcome")}`;
    assert.equal(await standing("a"), "ready neutral");
    assert.equal(await standing("b"), "waiting_for_dependencies neutral");
    assert.equal(await standing("c"), "ignored neutral");
    const agent = await inside.newAgent();

    const first = (await agent.offered()) as string;
    const { token } = await agent.begin(first);
    assert.equal(await standing("a"), "running neutral");
    await agent.finish(first, 9, token);
    assert.equal(await standing("a"), "ready neutral", "the failed job was retried");
    await agent.runOne();
    assert.equal(await standing("a"), "finished passed");
    assert.equal(await standing("b"), "ready neutral");
    await agent.runOne();
    assert.equal(await standing("b"), "running neutral");
    const last = (await agent.offered()) as string;
    const { token: promising } = await agent.begin(last);
    await agent.send("PUT", `/jobs/${last}/promise_failure`, { exit_status: 1 }, promising);
    assert.equal(await standing("b"), "failing neutral");
    await agent.finish(last, 1, promising);
    assert.equal(await standing("b"), "finished hard_failed");
  });

  for (const [outcome, step, exitStatus] of [
    ["soft_failed", { soft_fail: true }, 1],
    ["hard_failed", { soft_fail: [{ exit_status: 2 }] }, 1],
    ["passed", {}, 0],
  ] as const)
    it(`has the outcome ${outcome} of exit status ${exitStatus} with ${JSON.stringify(step)}`, async () => {
      const { get, newAgent } = await enterJob(
        api,
        { command: "watch" },
        { command: "a", key: "a", ...step },
      );
      await (await newAgent()).runOne(exitStatus);
      assert.equal(await get("a", "outcome"), outcome);
    });
});
