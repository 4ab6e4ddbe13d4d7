import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { it } from "node:test";
import { agentTokenOf, startAgent } from "../helpers/agent.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";

const settings = { STEPS_PER_PIPELINE: "3", JOBS_PER_MATRIX: "4" };

describeWorld("the limits of steps", withSettings(openApi, settings), (api) => {
  const matrix = (jobs: number) => ({
    command: "a",
    matrix: Array.from({ length: jobs }, (_, value) => value),
  });
  const tooMany = "Step matrix can become 4 jobs at most";

  it("are settings, for pipelines that are made and changed, and for uploads", async () => {
    const { slug } = await api.newPipeline({
      steps: [matrix(4), { group: "G", steps: [{ command: "b" }, "wait"] }],
    });
    const change = (steps: unknown[]) => api.send("PATCH", `/pipelines/${slug}`, { body: { steps } });
    for (const [steps, message] of [
      [Array(4).fill({ command: "a" }), "Steps can be 3 at most"],
      [[{ command: "a" }, { group: "G", steps: Array(3).fill({ command: "b" }) }], "Steps can be 3 at most"],
      [[matrix(5)], tooMany],
      [["wait", { group: "G", steps: [matrix(5)] }], `steps[1].steps[0].matrix: ${tooMany}`],
    ] as const) {
      const body = { name: "Limited", cluster_id: api.acme.cluster.id, steps };
      for (const answer of [await change([...steps]), await api.send("POST", "/pipelines", { body })])
        assert.deepEqual([answer.status, answer.body.message], [422, `Validation failed: ${message}`]);
    }

    await api.newPipeline();
    const agent = await startAgent(api.world.url, await agentTokenOf(api.world, api.acme.cluster));
    await api.build((await api.newPipeline({ steps: [{ command: "upload" }] })).id);
    const id = (await agent.offered()) as string;
    const { token } = await agent.begin(id);
    const upload = (steps: unknown[]) =>
      agent.send("POST", `/jobs/${id}/pipelines`, { uuid: randomUUID(), pipeline: { steps } }, token);
    const refused = await upload([matrix(5)]);
    assert.deepEqual([refused.status, refused.body.message], [422, tooMany]);
    assert.ok((await upload(Array(5).fill(matrix(4)))).status < 300);
  });
});
