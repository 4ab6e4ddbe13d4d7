import assert from "node:assert/strict";
import { before, it } from "node:test";
import { StackClient } from "../../../agents/stacks/stack-client.ts";
import { agentTokenOf } from "../../../helpers/agent.ts";
import { build } from "../../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the pages of stacks", startQueuePages, (pages) => {
  let token: string;
  before(async () => {
    token = await agentTokenOf(pages, pages.acme.cluster);
  });

  it("list them beside the agents of the cluster, once there are any", async () => {
    assert.doesNotMatch((await pages.asAda.get(pages.paths.cluster)).text, /Reserved jobs/);
    const client = new StackClient(pages.url, token);
    await client.register("agent-stack-k8s", "__default__", { metadata: { region: "<eu>" } });

    const { text } = await pages.asBob.get(pages.paths.cluster);

    for (const part of ["agent-stack-k8s", "Reserved jobs", "region=&lt;eu", "connected"])
      assert.ok(text.includes(part), part);
  });

  it("say which stack has reserved a job, and what it said", async () => {
    await build(pages, pages.acme.pipeline.id, 1);
    const client = new StackClient(pages.url, token);
    await client.register("agent-stack-k8s", "__default__");
    const [job] = await client.poll();
    assert.ok(job);
    await client.reserve([job.id]);
    await client.notify([
      {
        job_uuid: job.id,
        detail: "Pulling <image>",
        timestamp: new Date(pages.clock.now().getTime()).toISOString(),
      },
    ]);
    const number = job.build.number;
    const path = `/organizations/acme/pipelines/${job.pipeline.slug}/builds/${number}/jobs/${job.id}`;

    const { text } = await pages.asBob.get(path);

    assert.match(text, /The stack <a href="[^"]*#stacks">agent-stack-k8s<\/a> has reserved it/);
    assert.match(text, /Pulling &lt;image/);
    assert.match((await pages.asBob.get(pages.paths.queue)).text, /reserved/);
    await client.finish(job.id, "No room on any node");
    assert.match((await pages.asBob.get(path)).text, /No room on any node/);
  });
});
