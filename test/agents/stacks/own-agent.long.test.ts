import assert from "node:assert/strict";
import { it } from "node:test";
import { openAgentApi } from "../../helpers/agent.ts";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { startAgent } from "../../scripts/agent/agent.ts";
import { StackClient } from "./stack-client.ts";

const open = withSettings(openAgentApi, { AGENT_STATUS_SECONDS: "1" });

describeWorldOn(sqlite, "npm run agent -- start --acquire-job", open, (api) => {
  const acquire = (queueKey: string, id: string) =>
    startAgent({ endpoint: `${api.world.url}/v3` }, [
      ...["--token", api.agentToken, "--queue", queueKey],
      ...["--acquire-job", id],
    ]);

  it("runs the job that a stack has reserved, and ends", async () => {
    const { queue, path, states } = await api.buildOnQueue(
      { command: "echo in a pod" },
      { command: "false" },
    );
    const client = new StackClient(api.world.url, api.agentToken);
    await client.register("own", queue.key);
    const [job] = await client.poll();
    assert.ok(job);
    await client.reserve([job.id]);

    await using agent = acquire(queue.key, job.id);

    assert.deepEqual(await agent.ended, [0, null]);
    assert.deepEqual((await states()).toSorted(), ["passed", "scheduled"], "it takes no other job");
    assert.match((await api.send("GET", `${path}/jobs/${job.id}/log.txt`)).text, /in a pod/);
  });

  it("ends with 1 if it cannot have the job", async () => {
    const { queue, path, read } = await api.buildOnQueue({});
    const [{ id }] = (await read()).jobs;
    await api.send("PUT", `${path}/jobs/${id}/cancel`);
    await using agent = acquire(queue.key, id);
    assert.deepEqual(await agent.ended, [1, null]);
  });
});
