import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { listJobsPage } from "../../shared/builds/reading/job-list-store.ts";
import { listJobs, measureJobs } from "../../shared/builds/rows/build-store.ts";
import { findJob } from "../../shared/builds/rows/progress-store.ts";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../helpers/agent.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

const command = "make harbour ".repeat(100);
const step = {
  label: "Build",
  command,
  env: { LIGHT: "on" },
  retry: { automatic: [{ exit_status: [3], limit: 1 }] },
};

describeWorld("a step of several jobs", openApi, (api) => {
  let agent: ScriptedAgent;
  let key: string;
  before(async () => {
    ({ key } = await api.newQueue());
    agent = await startAgent(api.world.url, await agentTokenOf(api.world, api.acme.cluster), {
      meta_data: [`queue=${key}`],
    });
  });

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
    const { id, jobs, path } = await newBuild();

    assert.deepEqual(await storedCommands(id), [command, null, null]);
    const members = ["name", "command", "parallel_group_index", "parallel_group_total"];
    assert.deepEqual(
      jobs.map((job: Record<string, unknown>) => members.map((member) => job[member])),
      [0, 1, 2].map((index) => ["Build", command, index, 3]),
    );
    const { db } = api.world.services;
    const whole = await listJobs(db, [id]);
    assert.deepEqual(
      whole.map(({ job }) => [job.options?.env, job.options?.parallel]),
      [0, 1, 2].map((index) => [step.env, { index, total: 3 }]),
    );
    const { bytes } = await measureJobs(db, [id]);
    assert.ok(bytes > 3 * command.length, `${bytes} bytes: each job counts as if it had the text`);
    await api.send("PUT", `${path}/cancel`);
  });

  it("is stored once without a label, too", async () => {
    const pipeline = await api.newPipeline({ steps: [{ command, parallelism: 2, agents: { queue: key } }] });
    await api.build(pipeline.id);
    const path = `/pipelines/${pipeline.slug}/builds/1`;
    const { body } = await api.send("GET", path);
    const { db } = api.world.services;

    assert.deepEqual(await storedCommands(body.id), [command, null]);
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
});
