import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, it } from "node:test";
import { agentTokenOf, sendAsAgent, startAgent } from "../../helpers/agent.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";

describeWorldOn(sqlite, "the answer to a pipeline upload", openApi, (api) => {
  let send: (pipeline: unknown, uuid?: string) => ReturnType<typeof sendAsAgent>;

  before(async () => {
    await api.build(api.acme.pipeline.id);
    const agent = await startAgent(api.world.url, await agentTokenOf(api.world, api.acme.cluster));
    const job = (await agent.offered()) as string;
    const { token } = await agent.begin(job);
    send = (pipeline, uuid = randomUUID()) =>
      sendAsAgent(api.world.url, token, {
        method: "POST",
        path: `/jobs/${job}/pipelines`,
        body: { uuid, pipeline },
      });
  });

  it("names the members that have no effect, and so does the build", async () => {
    const pipeline = {
      notify: ["slack"],
      steps: [
        { command: "a", label: "A", notify: ["log/*"], cache: "node_modules" },
        { group: "G", steps: [{ command: "b", notify: ["slack"] }] },
      ],
    };
    const warnings = [
      { step: null, member: "notify" },
      { step: "A", member: "notify" },
      { step: "steps[1].steps[0]", member: "notify" },
    ];
    const uuid = randomUUID();

    for (const answer of [await send(pipeline, uuid), await send(pipeline, uuid)])
      assert.deepEqual([answer.status, answer.body], [200, { state: "applied", warnings }]);

    assert.deepEqual((await api.send("GET", "/pipelines/web/builds/1")).body.warnings, warnings);
  });

  it("names step and member of what is wrong once", async () => {
    for (const [steps, message] of [
      [
        [{ command: "a" }, { command: "b", parallelism: -1 }],
        "steps[1].parallelism: Step parallelism must be a whole number from 0 to 100",
      ],
      [
        [{ group: "G", steps: [{ command: "b", if: "build." }] }],
        "steps[0].steps[0].if: Expected a name after the dot, found the end, at line 1, column 7",
      ],
    ] as const) {
      const { status, body } = await send({ steps });
      assert.deepEqual([status, body], [422, { message }]);
    }
  });
});
