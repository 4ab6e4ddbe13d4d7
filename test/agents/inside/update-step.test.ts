import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { it } from "node:test";
import { newIds } from "../../../shared/ids.ts";
import { openApi, unknownId } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { enterJob, runAll } from "./in-a-job.ts";

describeWorld("PUT /v3/steps/{step}", openApi, (api) => {
  const enter = (...steps: (string | object)[]) => enterJob(api, ...steps);

  it("changes a label for all jobs of the step, and adds to it", async () => {
    const { update, build } = await enter({ command: "a", key: "a", label: "Shard %N", parallelism: 2 });

    assert.equal((await update("a", "label", " of %t", { append: true })).status, 200);

    const names = (await build()).jobs.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ["Shard 1 of 2", "Shard 2 of 2"]);
    await update("a", "label", "New");
    assert.equal((await build()).jobs[1].name, "New");
  });

  it("changes nothing the second time, by the idempotency_uuid", async () => {
    const { update, get } = await enter({ command: "a", key: "a", label: "A" });
    const same = { append: true, idempotency_uuid: randomUUID() };

    for (let times = 0; times < 3; times++) assert.equal((await update("a", "label", "!", same)).status, 200);

    assert.equal(await get("a", "label"), "A!");
    await Promise.all(
      Array.from({ length: 4 }, () => update("a", "label", "?", { ...same, idempotency_uuid: unknownId })),
    );
    assert.equal(await get("a", "label"), "A!?", "of simultaneous ones too");
  });

  it("changes the priority of the jobs that wait, which orders them", async () => {
    const { update, build, newAgent } = await enter(
      { command: "first" },
      { command: "a", key: "a" },
      { command: "b", key: "b" },
    );

    await update("b", "priority", "5");

    const { jobs } = await build();
    assert.deepEqual(
      jobs.map(({ priority }: { priority: { number: number } }) => priority.number),
      [0, 0, 5],
    );
    assert.equal(await (await newAgent()).offered(), jobs[2].id);
  });

  it("raises the parallelism of a step that runs, directly behind its jobs", async () => {
    const { update, build, newAgent, finish, get } = await enter(
      { command: "a", key: "a", label: "%N" },
      "wait",
      { command: "last" },
    );

    assert.equal((await update("a", "parallelism", "3")).status, 200);

    const { jobs } = await build();
    assert.deepEqual(
      jobs.map(({ command, state }: { command: string; state: string }) => `${command} ${state}`),
      ["a running", "a scheduled", "a scheduled", "null waiting", "last waiting"],
    );
    assert.deepEqual(
      jobs
        .slice(1, 3)
        .map((job: Record<string, unknown>) => [
          job.name,
          job.parallel_group_index,
          job.parallel_group_total,
        ]),
      [
        ["2", 1, 3],
        ["3", 2, 3],
      ],
    );
    assert.equal(await get("a", "parallelism"), "3");
    await finish();
    await runAll(await newAgent());
    assert.equal((await build()).state, "passed");
  });

  it("raises the parallelism of a step that waits: its new jobs wait too", async () => {
    const { update, states, finish, newAgent, build } = await enter({ command: "first" }, "wait", {
      command: "a",
      key: "a",
      parallelism: 2,
    });
    await update("a", "parallelism", "4");
    assert.deepEqual(await states(), ["running", "waiting", "waiting", "waiting", "waiting", "waiting"]);
    await finish();
    await runAll(await newAgent());
    assert.deepEqual(await states(), Array(6).fill("passed"));
    assert.equal((await build()).state, "passed");
  });

  it("400 for a parallelism that is lower, too high, of an ended step, a wait or a matrix", async () => {
    const { update, newAgent, states } = await enter(
      { command: "first" },
      { command: "a", key: "a", parallelism: 2 },
      { command: "m {{matrix}}", key: "m", matrix: ["1"] },
      { wait: null, key: "w" },
    );
    for (const value of ["1", "0", "101", "-1", "x", ""])
      assert.equal((await update("a", "parallelism", value)).status, 400, value);
    assert.equal((await update("a", "parallelism", "2")).status, 200, "as it is");
    for (const step of ["m", "w"]) assert.equal((await update(step, "parallelism", "3")).status, 400, step);
    await runAll(await newAgent());
    assert.equal((await update("a", "parallelism", "3")).status, 400);
    assert.equal((await states()).length, 5);
  });

  it("keeps notices, and adds to them", async () => {
    const { update, get } = await enter({ command: "a", key: "a", parallelism: 2 });
    const slack = { slack: "#builds" };
    const status = { github_commit_status: { context: "a" } };

    await update("a", "notify", JSON.stringify([slack]));
    await update("a", "notify", JSON.stringify([status]), { append: true });

    assert.deepEqual(JSON.parse(await get("a", "notify", { format: "json" })), [slack, status]);
    assert.equal((await update("a", "notify.github_check.output.title", "A")).status, 200);
    assert.equal((await update("a", "notify.colour", "A")).status, 400);
    assert.equal((await update("a", "notify", "no JSON")).status, 400);
    assert.equal((await update("a", "notify", `["${"x".repeat(20_000)}"]`)).status, 400);
  });

  it("400 for other attributes and values, 404 for unknown steps", async () => {
    const { update } = await enter({ command: "a", key: "a" });
    for (const [attribute, value, more] of [
      ["command", "b", {}],
      ["state", "passed", {}],
      ["priority", "high", {}],
      ["priority", "1", { append: true }],
      ["label", "x".repeat(256), {}],
      ["label", "a\0b", {}],
      ["label", "b", { idempotency_uuid: "none" }],
    ] as const)
      assert.equal((await update("a", attribute, value, more)).status, 400, `${attribute} ${value}`);
    assert.equal((await update("b", "label", "b")).status, 404);
    assert.equal((await update("a", "label", "b", { build_id: unknownId })).status, 404);
  });

  it("400 for a job that has updated steps 5,000 times: the id of each is kept", async () => {
    const { update, job } = await enter({ command: "a", key: "a" });
    const { db, clock } = api.world.services;
    const rows = newIds(clock.now(), 4999).map((id) => ({
      jobId: job,
      id,
      createdAt: clock.now(),
      jobsMade: null,
      isReplacing: false,
    }));
    await db.transaction((tx) => tx.insertMany(tx.tables.pipelineUploads, rows));
    const repeated = { idempotency_uuid: randomUUID() };
    assert.equal((await update("a", "label", "A", repeated)).status, 200);
    const { status, body } = await update("a", "label", "B");
    assert.deepEqual([status, body.message], [400, "A job can upload and update steps 5,000 times"]);
    assert.equal((await update("a", "label", "A", repeated)).status, 200);
  });

  it("400 for a finished build, which no step of it changes any more", async () => {
    const other = await enter({ command: "b", key: "b" });
    await other.finish();
    const { update } = await enter({ command: "a" });
    const { status, body } = await update("b", "label", "B", { build_id: other.buildId });
    assert.deepEqual(
      [status, body],
      [400, { message: "You can only change the pipeline of a running build" }],
    );
  });
});
