import assert from "node:assert/strict";
import { it } from "node:test";
import { newScriptJob } from "../../shared/builds/making/jobs.ts";
import { insertJobs } from "../../shared/builds/rows/job-store.ts";
import { newIds } from "../../shared/ids.ts";
import { agentTokenOf, startAgent } from "../helpers/agent.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";

describeWorldOn(sqlite, "the size of builds", openApi, (api) => {
  it("ends automatic retries: a build has at most 4,000 jobs", async () => {
    const { key, id: queueId } = await api.newQueue();
    const agents = { queue: key };
    const steps = [{ command: "x", agents, retry: { automatic: { limit: 10 } } }];
    const pipeline = await api.newPipeline({ steps });
    await api.build(pipeline.id);
    const { db, clock } = api.world.services;
    const agent = await startAgent(api.world.url, await agentTokenOf(api.world, api.acme.cluster), {
      meta_data: [`queue=${key}`],
    });
    const first = (await agent.offered()) as string;
    await agent.begin(first);
    const path = `/pipelines/${pipeline.slug}/builds/1`;
    const { id: buildId } = (await api.send("GET", path)).body;
    const now = clock.now();
    const others = newIds(now, 3998).map((id) => ({
      ...newScriptJob({ id, buildId, createdAt: now }),
      queueId,
      state: "passed" as const,
      position: 1,
    }));
    await db.transaction((tx) => insertJobs(tx, others));

    await agent.finish(first, 1);
    assert.ok(await agent.runOne(1), "it was retried");

    assert.equal(await agent.offered(), undefined);
    const { body } = await api.send("GET", `${path}?include_retried_jobs=true`);
    assert.deepEqual([body.state, body.jobs.length], ["failed", 4000]);
  });

  it("is at most 32 MB a page", async () => {
    const step = { command: "x".repeat(65_000), parallelism: 100 };
    const pipeline = await api.newPipeline({ steps: [step, step] });
    for (let made = 0; made < 3; made++) await api.build(pipeline.id, 1);
    const list = (query: string) => api.send("GET", `/pipelines/${pipeline.slug}/builds${query}`);

    const refused = await list("");

    const advice = "Ask for fewer builds with per_page, or leave out their jobs with exclude_jobs";
    assert.deepEqual(
      [refused.status, refused.body],
      [422, { message: `The page would be larger than 32 MB. ${advice}` }],
    );
    assert.equal((await list("?exclude_jobs=true")).body.length, 3);
    assert.equal((await list("?per_page=2")).body[1].jobs.length, 200);
  });
});
