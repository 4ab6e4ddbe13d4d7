import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Client } from "pg";
import { agentTokenOf, sendAsAgent, startAgent } from "../helpers/agent.ts";
import { type Api, openApi } from "../helpers/api.ts";
import { postgres, skipPostgres } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";

describe("meta-data of a job that is taken away", { skip: skipPostgres }, () => {
  let api: Api;
  before(async () => {
    api = await openApi(postgres);
  });
  after(() => api.close());

  it("is refused with 404 when the job goes back to its queue before the write", async () => {
    const { world, acme } = api;
    await api.build(acme.pipeline.id);
    const agent = await startAgent(world.url, await agentTokenOf(world, acme.cluster));
    const jobId = (await agent.offered()) as string;
    const { token } = await agent.begin(jobId);
    const set = (key: string) =>
      sendAsAgent(world.url, token, {
        method: "POST",
        path: `/jobs/${jobId}/data/set`,
        body: { key, value: "v" },
      });
    assert.equal((await set("before")).status, 200);
    const taker = new Client({ connectionString: world.config.databaseUrl });
    await taker.connect();
    await taker.query("begin");
    await taker.query("select id from builds for no key update");

    const late = set("late");
    await eventually("the write waits", async () => {
      const { rows } = await taker.query(
        "select pid from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))",
      );
      return rows.length === 1;
    });
    await taker.query("update jobs set state = 'scheduled', agent_id = null, accepted_at = null");
    await taker.query("commit");
    await taker.end();

    assert.equal((await late).status, 404);
    const { body } = await api.send("GET", `/pipelines/${acme.pipeline.slug}/builds/1`);
    assert.deepEqual(body.meta_data, { before: "v" });
  });
});
