import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, it } from "node:test";
import { eq, sql } from "drizzle-orm";
import { lockGroup, startIfLimited } from "../../shared/builds/groups/decide-store.ts";
import { deleteEmptyGroups } from "../../shared/builds/groups/list-store.ts";
import { startLimitedJobs } from "../../shared/builds/groups/start.ts";
import { createBuilds } from "../../shared/builds/making/builds.ts";
import { findJob } from "../../shared/builds/rows/progress-store.ts";
import { secondMs } from "../../shared/durations.ts";
import { openAgentApi, type ScriptedAgent, startAgent } from "../helpers/agent.ts";
import { describeWorld } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";

describeWorld("a concurrency group", openAgentApi, (api) => {
  let queue: { id: string; key: string };
  let agent: ScriptedAgent;
  let made = 0;

  before(async () => {
    queue = await api.newQueue();
    agent = await newAgent();
  });

  const newAgent = () =>
    startAgent(api.world.url, api.agentToken, { meta_data: [`queue=${queue.key}`], name: `agent-${++made}` });
  const newGroup = () => `group ${++made}`;
  const on = (step: object) =>
    "wait" in step || "block" in step ? step : { agents: { queue: queue.key }, ...step };
  const limitedTo = (group: string, command: string, more: object = {}) => ({
    command,
    concurrency: 1,
    concurrency_group: group,
    ...more,
  });
  /** Makes a build of a pipeline of its own, a second after the last one. */
  const build = async (...steps: object[]) => {
    api.world.clock.advance(secondMs);
    const { slug } = await api.newPipeline({ steps: steps.map(on) });
    const answer = await api.send("POST", `/pipelines/${slug}/builds`, {
      body: { commit: "HEAD", branch: "main", message: "m" },
    });
    assert.equal(answer.status, 201, answer.text);
    return `/pipelines/${slug}/builds/${answer.body.number}`;
  };
  const jobsOf = async (path: string) =>
    (await api.send("GET", path)).body.jobs as { id: string; command: string; state: string }[];
  /** Resolves once no task is left. */
  const settled = async () => {
    const { db } = api.world.services;
    await eventually("no task is left", async () => (await db.select().from(db.tables.tasks)).length === 0);
  };
  const statesOf = async (path: string) => {
    await settled();
    const { db } = api.world.services;
    const { jobs } = db.tables;
    const states: string[] = [];
    for (const { id } of await jobsOf(path)) {
      const [row] = await db.select({ state: jobs.state }).from(jobs).where(eq(jobs.id, id));
      states.push(row?.state ?? "");
    }
    return states;
  };
  const commandOf = async (jobId: string) => {
    const { db } = api.world.services;
    return (await db.transaction((tx) => findJob(tx, jobId)))?.command;
  };
  /** Runs all jobs, one after the other. @returns their commands */
  const runAll = async () => {
    const commands: (string | null | undefined)[] = [];
    for (;;) {
      await settled();
      const job = await agent.runOne();
      if (job === undefined) return commands;
      commands.push(await commandOf(job));
    }
  };

  it("lets one job of two builds run, and the next one once it has ended", async () => {
    const group = newGroup();
    const first = await build(limitedTo(group, "a"));
    const second = await build(limitedTo(group, "b"));

    assert.deepEqual(await statesOf(first), ["scheduled"]);
    assert.deepEqual(await statesOf(second), ["limited"]);
    assert.deepEqual(
      (await jobsOf(second)).map(({ state }) => state),
      ["scheduled"],
    );

    assert.deepEqual(await runAll(), ["a", "b"]);
    assert.deepEqual(await statesOf(second), ["passed"]);
  });

  it("leaves a job that waits for it scheduled in REST, where limited finds it too", async () => {
    const group = newGroup();
    await build(limitedTo(group, "a"));
    const path = await build(limitedTo(group, "b"), { command: "c" }, { wait: null }, { command: "d" });
    await settled();
    const found = async (states: string) => {
      const { items } = (await api.send("GET", `${path}/jobs?${states}`)).body;
      const ofBuild = await api.send("GET", `${path}?${states.replaceAll("state[]", "job_states[]")}`);
      assert.deepEqual(ofBuild.body.jobs, items);
      return items.map(({ command, state }: { command: string; state: string }) => `${command} ${state}`);
    };

    assert.deepEqual(await found("state[]=limited"), ["b scheduled"]);
    assert.deepEqual(await found("state[]=scheduled"), ["b scheduled", "c scheduled"]);
    assert.deepEqual(await found("state[]=waiting&state[]=limited"), [
      "b scheduled",
      "null waiting",
      "d waiting",
    ]);
    const { job_state_counts } = (await api.send("GET", path)).body;
    assert.deepEqual(job_state_counts, { total: 4, states: { scheduled: 2, waiting: 2 } });
  });

  it("says in REST how long a job waited for it", async () => {
    const group = newGroup();
    await build(limitedTo(group, "a"));
    const second = await build(limitedTo(group, "b"));
    await settled();
    api.world.clock.advance(5 * secondMs);
    await runAll();
    const [job] = (await api.send("GET", second)).body.jobs;

    assert.equal(job.concurrency, 1);
    assert.equal(job.concurrency_group, group);
    assert.equal(job.concurrency_method, "ordered");
    assert.ok(job.concurrency_wait_time_ms >= 5 * secondMs, String(job.concurrency_wait_time_ms));
  });

  it("keeps later builds out of a gate, while the gate's last step waits", async () => {
    const group = newGroup();
    const gate = (name: string) => [
      limitedTo(group, `${name} opens`),
      { wait: null },
      { command: `${name} deploys` },
      { wait: null },
      limitedTo(group, `${name} closes`),
    ];
    await build(...gate("a"));
    await build(...gate("b"));

    assert.deepEqual(await runAll(), [
      "a opens",
      "a deploys",
      "a closes",
      "b opens",
      "b deploys",
      "b closes",
    ]);
  });

  it("lets builds of one transaction through a gate one after the other", async () => {
    const group = newGroup();
    const steps = [limitedTo(group, "in"), { wait: null }, { command: "work" }, { wait: null }];
    const { id } = await api.newPipeline({ steps: [...steps, limitedTo(group, "out")].map(on) });
    const { services } = api.world;
    const request = { pipelineId: id, deliveryId: null, source: "api" as const, message: "m" };
    const requests = Array.from({ length: 4 }, () => ({
      ...request,
      commit: "HEAD",
      branch: "main",
      environmentSealed: null,
    }));
    await services.db.transaction((tx) => createBuilds(tx, services, requests, tx.now));
    const { concurrencyGroups } = services.db.tables;
    const [row] = await services.db.select().from(concurrencyGroups).where(eq(concurrencyGroups.name, group));
    await startLimitedJobs(services, row?.id ?? "");

    assert.deepEqual(await runAll(), Array(4).fill(["in", "work", "out"]).flat());
  });

  it("keeps a build that a person unblocks out of a gate that a later one has not left", async () => {
    const group = newGroup();
    const gate = (name: string) => [
      { block: "Go?" },
      limitedTo(group, `${name} in`),
      { wait: null },
      { command: `${name} works` },
      { wait: null },
      limitedTo(group, `${name} out`),
    ];
    const first = await build(...gate("a"));
    const second = await build(...gate("b"));
    const unblock = async (path: string) => {
      const [block] = await jobsOf(path);
      assert.equal((await api.send("PUT", `${path}/jobs/${block?.id}/unblock`, { body: {} })).status, 200);
    };
    await unblock(second);
    await settled();
    await agent.runOne();
    await unblock(first);

    assert.equal((await statesOf(first))[1], "limited");
    assert.deepEqual(await runAll(), ["b works", "b out", "a in", "a works", "a out"]);
  });

  it("names the job ahead that keeps a job out, though nobody holds the group", async () => {
    const group = newGroup();
    const path = await build(
      { command: "work", key: "work" },
      limitedTo(group, "a", { depends_on: "work" }),
      limitedTo(group, "b"),
    );
    await settled();
    const jobs = (await api.send("GET", path)).body.jobs;

    assert.deepEqual(jobs[2].waiting_reason, {
      kind: "concurrency_group",
      job_ids: [jobs[1].id],
      has_more: false,
    });
    await runAll();
  });

  it("that is eager lets a ready job overtake, higher priorities first", async () => {
    const group = newGroup();
    const eager = { concurrency_method: "eager" };
    await build({ command: "first" }, { wait: null }, limitedTo(group, "late", eager));
    const holding = await build(limitedTo(group, "holds", { ...eager, priority: 5 }));
    await build(limitedTo(group, "low", { ...eager, priority: 1 }));
    await build(limitedTo(group, "high", { ...eager, priority: 2 }));

    assert.deepEqual(await statesOf(holding), ["scheduled"]);
    assert.deepEqual((await runAll()).filter((command) => command !== "first").slice(0, 2), [
      "holds",
      "high",
    ]);
  });

  it("has jobs behind a block from when it opens, in the place of their build", async () => {
    const group = newGroup();
    const first = await build({ block: "Release?" }, limitedTo(group, "a", { parallelism: 2 }));
    const second = await build(limitedTo(group, "b"));
    const third = await build(limitedTo(group, "c"));
    assert.deepEqual(await statesOf(second), ["scheduled"], "the jobs behind the block keep nobody out");

    const [block] = await jobsOf(first);
    assert.equal((await api.send("PUT", `${first}/jobs/${block?.id}/unblock`, { body: {} })).status, 200);

    assert.deepEqual(await statesOf(first), ["unblocked", "limited", "limited"]);
    assert.deepEqual(await runAll(), ["b", "a", "a", "c"]);
    assert.deepEqual(await statesOf(first), ["unblocked", "passed", "passed"]);
    assert.deepEqual(await statesOf(third), ["passed"]);
  });

  it("has uploaded jobs, and parallel ones each", async () => {
    const group = newGroup();
    const path = await build({ command: "uploads" });
    const job = await agent.offered();
    const begun = await agent.begin(job as string);
    const steps = [on(limitedTo(group, "p", { parallelism: 3, concurrency: 2 }))];
    const uploaded = await agent.send(
      "POST",
      `/jobs/${job}/pipelines`,
      { uuid: randomUUID(), pipeline: { steps } },
      begun.token,
    );
    assert.equal(uploaded.status, 200, uploaded.text);
    await agent.finish(job as string, 0, begun.token);

    assert.deepEqual(await statesOf(path), ["passed", "scheduled", "scheduled", "limited"]);
    await runAll();
    assert.deepEqual(await statesOf(path), ["passed", "passed", "passed", "passed"]);
  });

  it("has the jobs of a step whose parallelism is raised, in the place of the step", async () => {
    const group = newGroup();
    const path = await build(limitedTo(group, "a", { key: "a" }));
    const later = await build(limitedTo(group, "b"));
    await settled();
    const job = (await agent.offered()) as string;
    const begun = await agent.begin(job);
    const { id: buildId } = (await api.send("GET", path)).body;
    const update = { build_id: buildId, attribute: "parallelism", value: "3" };
    const updated = await agent.send("PUT", "/steps/a", update, begun.token);
    assert.equal(updated.status, 200, updated.text);

    assert.deepEqual(await statesOf(path), ["running", "limited", "limited"]);
    await agent.finish(job, 0, begun.token);
    assert.deepEqual(await runAll(), ["a", "a", "b"]);
    assert.deepEqual(await statesOf(path), ["passed", "passed", "passed"]);
    assert.deepEqual(await statesOf(later), ["passed"]);
  });

  it("gives its room once, though two processes start jobs", async (t) => {
    const { services } = api.world;
    const { db } = services;
    if (db.dialect === "sqlite") return t.skip("it has one writer");
    const group = newGroup();
    const jobs = [await build(limitedTo(group, "a")), await build(limitedTo(group, "b"))];
    await settled();
    const [first = "", second = ""] = (await Promise.all(jobs.map(jobsOf))).map(([job]) => job?.id ?? "");
    const entries = db.tables.concurrencyMembers;
    const groupId = await db.transaction(async (tx) => {
      await tx.update(tx.tables.jobs).set({ state: "limited" }).where(eq(tx.tables.jobs.id, first));
      const ofFirst = eq(entries.jobId, first);
      const [entry] = await tx.update(entries).set({ standing: "limited" }).where(ofFirst).returning();
      return entry?.groupId ?? "";
    });

    const locked = Promise.withResolvers<void>();
    const beside = Promise.withResolvers<void>();
    const other = db.transaction(async (tx) => {
      await lockGroup(tx, groupId);
      locked.resolve();
      await beside.promise;
      await startIfLimited(tx, [second]);
    });
    await locked.promise;
    let isOver = false;
    const starting = startLimitedJobs(services, groupId).finally(() => (isOver = true));
    const isHere = sql`datname = current_database() and wait_event_type = 'Lock'`;
    const waiting = sql<number>`(select count(*) from pg_stat_activity where ${isHere})`.mapWith(Number);
    await eventually("it waits, or is over", async () => {
      const [row] = await db.select({ waiting }).from(entries).limit(1);
      return isOver || row?.waiting;
    });
    beside.resolve();
    await Promise.all([other, starting]);

    const held = await db.select().from(entries).where(eq(entries.groupId, groupId));
    assert.deepEqual(held.map(({ standing }) => standing).sort(), ["holding", "limited"]);
  });

  it("is deleted once it has no entries", async () => {
    await runAll();
    const { db } = api.world.services;
    const { concurrencyMembers, concurrencyGroups } = db.tables;
    assert.deepEqual(await db.select().from(concurrencyMembers), []);
    const group = newGroup();
    await build(limitedTo(group, "a"));
    await settled();
    const before = new Date(api.world.clock.now().getTime() + secondMs);
    await db.transaction((tx) =>
      deleteEmptyGroups(tx, { afterId: "00000000-0000-0000-0000-000000000000", before, limit: 200 }),
    );

    const left = await db.select({ name: concurrencyGroups.name }).from(concurrencyGroups);
    assert.deepEqual(left, [{ name: group }]);
    await runAll();
  });

  it("starts eager jobs with a limit each", async () => {
    const group = newGroup();
    const steps = Array.from({ length: 50 }, (_, index) =>
      limitedTo(group, `${index}`, { concurrency: index + 1, concurrency_method: "eager" }),
    );
    const path = await build(...steps);
    assert.deepEqual(new Set(await statesOf(path)), new Set(["scheduled"]));
  });
});
