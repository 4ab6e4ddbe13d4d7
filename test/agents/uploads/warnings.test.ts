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

  it("names the members without their effect, with reasons, and so does the build", async () => {
    const pipeline = {
      notify: [{ email: "ada@example.com" }, { irc: "#a", if: "true" }],
      steps: [
        { command: "a", label: "A", notify: ["log/*", { slack: "#a" }], cache: "node_modules" },
        { group: "G", steps: [{ command: "b", notify: [{ email: "ada@example.com" }] }] },
        { block: "C", notify: [{ slack: "#a" }] },
      ],
    };
    const member = "notify";
    const warnings = [
      { step: null, member, reason: 'Nothing is sent to "irc", which is no kind of notice here' },
      { step: "A", member, reason: 'Nothing is sent to "log/*", which is no kind of notice here' },
      {
        step: "steps[1].steps[0]",
        member,
        reason: "email is for builds: write it in the notify beside steps",
      },
      { step: "C", member },
      { step: null, member, reason: "SMTP is not set: the operator sets SMTP_URL" },
      { step: "A", member, reason: "The organization has no notification service for Slack" },
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
        [{ command: "a", notify: [{ slack: "#a", if: "build.state == 'failed'" }] }],
        "notify[0].if: build.state cannot be used here, at line 1, column 1",
      ],
      [
        [{ command: "a" }, { command: "b", notify: [{ slack: { channels: [1, {}] } }] }],
        "steps[1].notify[0].slack.channels[1]: Step notify: channels must be text or a list of text",
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
