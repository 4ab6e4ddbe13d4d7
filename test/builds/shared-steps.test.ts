import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { eq } from "drizzle-orm";
import { copySteps } from "../../shared/builds/copy-steps.ts";
import { referringCommand } from "../../shared/builds/job-store.ts";
import { findJob } from "../../shared/builds/progress-store.ts";
import { listJobsPage } from "../../shared/builds/reading/job-list-store.ts";
import { renewSharedSteps } from "../../shared/builds/shared-steps.ts";
import { listJobs, measureJobs } from "../../shared/builds/store.ts";
import { putFact } from "../../shared/db/facts-store.ts";
import type { Services } from "../../shared/process/services.ts";
import { connectFast } from "../../shared/redis/connect.ts";
import { redisKeys } from "../../shared/redis/keys.ts";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../helpers/agent.ts";
import { type Api, openApi } from "../helpers/api.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";

const fact = "builds.shared_steps";
const command = "make harbour ".repeat(100);
const step = {
  label: "Build",
  command,
  env: { LIGHT: "on" },
  retry: { automatic: [{ exit_status: [3], limit: 1 }] },
};

describeOnBothDatabases("a step of several jobs", (database) => {
  let api: Api;
  let agent: ScriptedAgent;
  let queueId: string;
  let key: string;
  before(async () => {
    api = await openApi(database);
    ({ key, id: queueId } = await api.newQueue());
    agent = await startAgent(api.world.url, await agentTokenOf(api.world, api.acme.cluster), {
      meta_data: [`queue=${key}`],
    });
  });
  after(() => api.close());

  const allow = (until = Number.MAX_SAFE_INTEGER) =>
    api.world.services.db.transaction((tx) => putFact(tx, fact, JSON.stringify({ from: 0, until })));
  const newBuild = async (parallelism = 3) => {
    const pipeline = await api.newPipeline({ steps: [{ ...step, parallelism, agents: { queue: key } }] });
    await api.build(pipeline.id);
    const path = `/pipelines/${pipeline.slug}/builds/1`;
    const { body } = await api.send("GET", path);
    return { id: body.id as string, jobs: body.jobs, path, slug: pipeline.slug };
  };
  const storedCommands = async (buildId: string) => {
    const { db } = api.world.services;
    const { jobs } = db.tables;
    const rows = await db
      .select()
      .from(jobs)
      .where(eq(jobs.buildId, buildId))
      .orderBy(jobs.position, jobs.id);
    return rows.map(({ ownCommand }) => ownCommand);
  };

  it("is stored once, and read as if each job had it", async () => {
    await allow(0);
    const own = await newBuild();
    await allow();
    const shared = await newBuild();

    assert.deepEqual(await storedCommands(own.id), [command, command, command]);
    assert.deepEqual(await storedCommands(shared.id), [command, referringCommand, referringCommand]);
    for (const member of ["name", "command", "parallel_group_index", "parallel_group_total"])
      assert.deepEqual(
        shared.jobs.map((job: Record<string, unknown>) => job[member]),
        own.jobs.map((job: Record<string, unknown>) => job[member]),
      );
    const { db } = api.world.services;
    const sizes = [await measureJobs(db, [own.id]), await measureJobs(db, [shared.id])];
    assert.deepEqual(sizes[0], sizes[1]);
    const optionsOf = async (id: string) => (await listJobs(db, [id])).map(({ job }) => job.options);
    assert.deepEqual(await optionsOf(shared.id), await optionsOf(own.id));
    for (const { path } of [own, shared]) await api.send("PUT", `${path}/cancel`);
  });

  it("is stored once without a label, too", async () => {
    await allow();
    const pipeline = await api.newPipeline({ steps: [{ command, parallelism: 2, agents: { queue: key } }] });
    await api.build(pipeline.id);
    const path = `/pipelines/${pipeline.slug}/builds/1`;
    const { body } = await api.send("GET", path);
    const { db } = api.world.services;

    assert.deepEqual(await storedCommands(body.id), [command, referringCommand]);
    const ids: string[] = body.jobs.map((job: { id: string }) => job.id);
    const read = await db.transaction((tx) => Promise.all(ids.map((id) => findJob(tx, id))));
    assert.deepEqual(
      read.map((job) => [job?.label, job?.command]),
      [
        [null, command],
        [null, command],
      ],
    );
    const shown = await listJobsPage(db, body.id, { limit: 10, offset: 0 });
    for (const { job } of shown.rows) assert.ok(job.command && command.startsWith(job.command));
    await api.send("PUT", `${path}/cancel`);
  });

  it("reaches agents whole, and retries of its jobs refer to it", async () => {
    await allow();
    const { id, jobs } = await newBuild(2);
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
    assert.deepEqual(
      (await storedCommands(id)).filter((each) => each === command),
      [command],
    );
    await agent.finish(retries[0] as string, 3);
    await agent.runOne();
    assert.equal(await agent.offered(), undefined, "the rule allows one retry");
  });

  it("is copied into its jobs before an older version runs", async () => {
    await allow();
    const { id, path } = await newBuild();
    await api.send("PUT", `${path}/cancel`);
    const waiting = await newBuild();
    const before = await listJobs(api.world.services.db, [waiting.id]);

    assert.equal(await copySteps(api.world.services), 2);

    assert.deepEqual(await storedCommands(waiting.id), [command, command, command]);
    assert.deepEqual(await listJobs(api.world.services.db, [waiting.id]), before);
    assert.deepEqual(await storedCommands(id), [command, referringCommand, referringCommand]);
    const later = await newBuild();
    assert.deepEqual(await storedCommands(later.id), [command, command, command]);
    assert.ok(queueId);
  });
});

describeOnBothDatabases("jobs refer to the first one of their step", (database) => {
  let api: Api;
  before(async () => {
    api = await openApi(database);
  });
  after(() => api.close());

  const look = (doAllRead: boolean | undefined) => {
    const processes = { doAll: async () => doAllRead };
    return renewSharedSteps({ ...api.world.services, processes } as unknown as Services);
  };
  const areShared = async () => {
    const pipeline = await api.newPipeline({ steps: [{ ...step, parallelism: 2 }] });
    await api.build(pipeline.id);
    const { db } = api.world.services;
    const { jobs } = db.tables;
    const rows = await db.select().from(jobs).where(eq(jobs.ownCommand, referringCommand));
    await db.transaction((tx) => tx.delete(db.tables.builds));
    return rows.length > 0;
  };
  const makeOlder = (ms: number) =>
    api.world.services.db.transaction(async (tx) => {
      const { settings } = tx.tables;
      const [row] = await tx.select().from(settings).where(eq(settings.name, fact));
      const { from, until } = JSON.parse(row?.value ?? "");
      await putFact(tx, fact, JSON.stringify({ from: from - ms, until: until - ms }));
    });

  it("at once in a new installation, while workers look", async () => {
    assert.equal(await areShared(), false);

    await look(true);
    assert.equal(await areShared(), true);

    await makeOlder(61_000);
    assert.equal(await areShared(), false);
  });

  it("not while Redis is away", async () => {
    await look(undefined);
    assert.equal(await areShared(), false);

    await look(true);
    assert.equal(await areShared(), true);
  });

  it("a day after a process of an older version was seen", async () => {
    await look(false);
    await look(true);
    assert.equal(await areShared(), false);

    await makeOlder(86_400_000);
    await look(true);
    assert.equal(await areShared(), true);
  });

  it("only if all processes say that they read that", async () => {
    const { redisUrl, redisPrefix } = api.world.config;
    const { processes } = api.world.services;
    const key = redisKeys(redisPrefix).processes;
    const redis = connectFast(redisUrl);
    assert.equal(await processes.doAll("readsSharedSteps"), undefined, "none is known");

    processes.report("ingress");
    await eventually("the report", async () => (await processes.doAll("readsSharedSteps")) === true);
    const [seconds] = await redis.time();
    await redis.zadd(
      key,
      Number(seconds) * 1000,
      JSON.stringify({ name: "worker", host: "h", pid: 1, startedAt: "" }),
    );

    assert.equal(await processes.doAll("readsSharedSteps"), false);
    redis.disconnect();
  });

  it("a day after the upgrade of an installation with builds", async () => {
    const { db } = api.world.services;
    await db.transaction((tx) => tx.delete(tx.tables.settings).where(eq(tx.tables.settings.name, fact)));
    const pipeline = await api.newPipeline();
    await api.build(pipeline.id);
    await look(true);
    assert.equal(await areShared(), false);

    await makeOlder(86_400_000);
    await look(true);
    assert.equal(await areShared(), true);
  });
});
