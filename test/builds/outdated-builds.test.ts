import assert from "node:assert/strict";
import { it } from "node:test";
import { endOutdated } from "../../shared/builds/outdated/outdated.ts";
import { openAgentApi, startAgent } from "../helpers/agent.ts";
import { describeWorld } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";

describeWorld("older builds of a branch", openAgentApi, (api) => {
  /** A pipeline with a queue of its own. */
  const make = async (
    settings: object,
    steps: (object | string)[] = [{ command: "a" }, "wait", { command: "b" }],
  ) => {
    const { key } = await api.newQueue();
    const onQueue = steps.map((step) =>
      typeof step === "object" ? { ...step, agents: { queue: key } } : step,
    );
    const { slug } = await api.newPipeline({ steps: onQueue, ...settings });
    const path = `/pipelines/${slug}/builds`;
    const build = async (branch = "main") => {
      const { status, body } = await api.send("POST", path, { body: { branch } });
      assert.equal(status, 201);
      await idle();
      return body;
    };
    const read = async (number: number) => (await api.send("GET", `${path}/${number}`)).body;
    const states = async () => {
      const { body } = await api.send("GET", path);
      return body.map(({ state }: { state: string }) => state).reverse() as string[];
    };
    const agent = () => startAgent(api.world.url, api.agentToken, { meta_data: [`queue=${key}`] });
    return { slug, path, build, read, states, agent };
  };
  const idle = () =>
    eventually("tasks are done", async () => {
      const { db } = api.world.services;
      return (await db.select().from(db.tables.tasks)).length === 0;
    });

  it("stay, unless the pipeline says otherwise", async () => {
    const { build, states } = await make({});
    await build();
    await build();
    assert.deepEqual(await states(), ["scheduled", "scheduled"]);
  });

  it("are skipped with their jobs, if they have not started, and others stay", async () => {
    const { build, states, read } = await make({ skip_queued_branch_builds: true });
    await build();
    await build("other");
    await build();
    assert.deepEqual(await states(), ["skipped", "scheduled", "scheduled"]);

    const { jobs, finished_at, cancel_reason } = await read(1);
    assert.deepEqual(
      jobs.map(({ state }: { state: string }) => state),
      ["skipped", "skipped", "skipped"],
    );
    assert.ok(finished_at);
    assert.equal(cancel_reason, null);
  });

  it("are never handed out once they are skipped", async () => {
    const { build, agent, read } = await make({ skip_queued_branch_builds: true });
    await build();
    await build();
    const offered = await (await agent()).offered();
    assert.equal(offered, (await read(2)).jobs[0].id);
  });

  it("are not skipped while an agent has a job of them", async () => {
    const { build, agent, read, states } = await make({ skip_queued_branch_builds: true });
    await build();
    const runner = await agent();
    await runner.begin((await runner.offered()) as string);
    await build();
    assert.deepEqual(await states(), ["running", "scheduled"]);
    assert.equal((await read(1)).jobs[0].state, "running");
  });

  it("are canceled with the reason, if they run", async () => {
    const { build, agent, read, states } = await make({ cancel_running_branch_builds: true });
    await build();
    const runner = await agent();
    const job = (await runner.offered()) as string;
    const { token } = await runner.begin(job);
    await build();

    assert.deepEqual(await states(), ["canceling", "scheduled"]);
    assert.equal((await read(1)).cancel_reason, "Build #2 of its branch is newer");
    await runner.finish(job, 1, token);
    assert.deepEqual(await states(), ["canceled", "scheduled"]);
  });

  it("that wait are not canceled by cancel_running_branch_builds alone", async () => {
    const { build, states } = await make({ cancel_running_branch_builds: true });
    await build();
    await build();
    assert.deepEqual(await states(), ["scheduled", "scheduled"]);
  });

  it("stay on branches that the filter leaves out", async () => {
    const { build, states } = await make({
      skip_queued_branch_builds: true,
      skip_queued_branch_builds_filter: "!main",
    });
    for (const branch of ["main", "feature", "main", "feature"]) await build(branch);
    assert.deepEqual(await states(), ["scheduled", "skipped", "scheduled", "scheduled"]);
  });

  it("are ended by a rebuild too, and later ones never", async () => {
    const { build, path, states } = await make({ skip_queued_branch_builds: true });
    const first = await build();
    assert.equal((await api.send("PUT", `${path}/1/rebuild`)).status, 200);
    await idle();
    assert.deepEqual(await states(), ["skipped", "scheduled"]);

    await endOutdated(api.world.services, first.id);
    assert.deepEqual(await states(), ["skipped", "scheduled"]);
  });

  it("are all ended, however many, and once more changes nothing", async () => {
    const { slug, build, states } = await make({ cluster_id: api.acme.cluster.id });
    for (let made = 0; made < 23; made++) await build();
    const change = { skip_queued_branch_builds: true };
    assert.equal((await api.send("PATCH", `/pipelines/${slug}`, { body: change })).status, 200);
    const { id } = await build();
    const expected = [...Array(23).fill("skipped"), "scheduled"];
    assert.deepEqual(await states(), expected);
    await endOutdated(api.world.services, id);
    assert.deepEqual(await states(), expected);
  });
});
