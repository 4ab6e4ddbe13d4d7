import assert from "node:assert/strict";
import { it } from "node:test";
import { count, inArray } from "drizzle-orm";
import { unfinishedJobStates } from "../../../shared/vocabulary.ts";
import { agentTokenOf } from "../../helpers/agent.ts";
import { openApi } from "../../helpers/api.ts";
import { describeOnSqlite } from "../../helpers/databases.ts";
import { eventually } from "../../helpers/http.ts";
import { startAgent } from "./agent.ts";

const amount = 120;

describeOnSqlite("20 agents at two ingress processes", (database) => {
  it(`run ${amount} jobs of a queue, each once`, async () => {
    const api = await openApi(database, { AGENT_PING_SECONDS: "1" });
    const { db } = api.world.services;
    const { jobs, builds, jobTokens } = db.tables;
    const { key } = await api.newQueue();
    const steps = [{ command: "echo done", agents: { queue: key } }];
    const pipeline = await api.newPipeline({ steps });
    await api.build(pipeline.id, amount);
    const token = await agentTokenOf(api.world, api.acme.cluster);
    const second = await api.world.another();
    const start = (url: string) =>
      startAgent({ endpoint: `${url}/v3` }, ["--token", token, "--queue", key, "--spawn", "10"]);
    await using one = start(api.world.url);
    await using two = start(second.url);

    await eventually("the end of all jobs", async () => {
      const unfinished = inArray(jobs.state, unfinishedJobStates);
      const [row] = await db.select({ total: count() }).from(jobs).where(unfinished);
      return row?.total === 0;
    });

    const ended = await db.select().from(jobs);
    assert.deepEqual(
      ended.map(({ state, attempt }) => `${state}, attempt ${attempt}`),
      Array(amount).fill("passed, attempt 1"),
    );
    assert.equal((await db.select().from(jobTokens)).length, amount);
    assert.ok((await db.select().from(builds)).every(({ state }) => state === "passed"));
    assert.ok(new Set(ended.map(({ agentId }) => agentId)).size > 10);
    for (const agent of [one, two]) agent.process.kill("SIGTERM");
    await Promise.all([one.ended, two.ended]);
    await api.close();
  });
});
