import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { Client } from "pg";
import { agentTokenOf, sendAsAgent, startAgent } from "../helpers/agent.ts";
import { type Api, openApi } from "../helpers/api.ts";
import { postgres, skipPostgres } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";

describe("a job that somebody takes away while its agent's call waits for the build", {
  skip: skipPostgres,
}, () => {
  let api: Api;
  before(async () => {
    api = await openApi(postgres);
  });
  after(() => api.close());

  /** Runs the call of an agent, and while it waits, the statement of another. */
  async function overtake<Answer>(
    pipelineId: string,
    call: () => Promise<Answer>,
    statement: string,
  ): Promise<Answer> {
    const other = new Client({ connectionString: api.world.config.databaseUrl });
    await other.connect();
    await other.query("begin");
    await other.query("select id from builds where pipeline_id = $1 for no key update", [pipelineId]);
    const answer = call();
    await eventually("the call waits", async () => {
      const { rows } = await other.query(
        "select pid from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))",
      );
      return rows.length === 1;
    });
    await other.query(statement, [pipelineId]);
    await other.query("commit");
    await other.end();
    return answer;
  }

  const startOne = async () => {
    const { world, acme } = api;
    const queue = await api.newQueue();
    const pipeline = await api.newPipeline({ steps: [{ command: "make", agents: { queue: queue.key } }] });
    await api.build(pipeline.id);
    const agent = await startAgent(world.url, await agentTokenOf(world, acme.cluster), {
      meta_data: [`queue=${queue.key}`],
    });
    return { pipeline, agent };
  };

  it("refuses meta-data with 404 when the job goes back to its queue before the write", async () => {
    const { world } = api;
    const { pipeline, agent } = await startOne();
    const jobId = (await agent.offered()) as string;
    const { token } = await agent.begin(jobId);
    const set = (key: string) =>
      sendAsAgent(world.url, token, {
        method: "POST",
        path: `/jobs/${jobId}/data/set`,
        body: { key, value: "v" },
      });
    assert.equal((await set("before")).status, 200);

    const late = await overtake(
      pipeline.id,
      () => set("late"),
      "update jobs set state = 'scheduled', agent_id = null, accepted_at = null where build_id = (select id from builds where pipeline_id = $1)",
    );

    assert.equal(late.status, 404);
    const { body } = await api.send("GET", `/pipelines/${pipeline.slug}/builds/1`);
    assert.deepEqual(body.meta_data, { before: "v" });
  });

  it("leaves the agent free when the job is canceled before it gets it", async () => {
    const { pipeline, agent } = await startOne();

    const offered = await overtake(
      pipeline.id,
      () => agent.offered(),
      "update jobs set state = 'canceled' where build_id = (select id from builds where pipeline_id = $1)",
    );

    assert.equal(offered, undefined);
    const { db } = api.world.services;
    const { agents } = db.tables;
    const [row] = await db.select().from(agents).where(eq(agents.id, agent.id));
    assert.deepEqual([row?.state, row?.jobId], ["connected", null]);
  });
});
