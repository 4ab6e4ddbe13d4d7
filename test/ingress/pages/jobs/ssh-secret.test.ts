import assert from "node:assert/strict";
import { it } from "node:test";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { createSecret } from "../../../../shared/secrets/secrets.ts";
import { agentTokenOf, startAgent } from "../../../helpers/agent.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the page of a job whose checkout needs a secret", startQueuePages, (pages) => {
  it("says why the job failed, and never has the value", async () => {
    const { services, actor, acme, paths } = pages;
    await createSecret(services, actor, acme.cluster, {
      key: "OPEN",
      value: "swordfish",
      description: null,
      policy: null,
    });
    const pipeline = await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name: "checked-out",
      repository: "git@git.example.com:site.git",
      steps: ["OPEN", "MISSING"].map((key) => ({ command: "make", checkout: { ssh_secret: key } })),
    });
    await createBuildByHand(services, actor, pipeline, {});
    const agent = await startAgent(pages.url, await agentTokenOf(pages, acme.cluster));
    const bob = await pages.visitor(pages.bob);
    const at = `${paths.pipelines}/checked-out`;
    const [open, missing] = [await agent.runOne(), (await agent.offered()) ?? ""];
    assert.equal((await agent.send("PUT", `/jobs/${missing}/accept`)).status, 422);

    const { text } = await bob.get(`${at}/builds/1/jobs/${missing}`);
    assert.match(text, /Its checkout needs the secret MISSING, which its cluster does not have/);
    for (const path of [at, `${at}/builds/1`, `${at}/builds/1/jobs/${open}`])
      assert.doesNotMatch((await bob.get(path)).text, /swordfish/);
    assert.match((await bob.get(at)).text, /checked out with ssh_secret OPEN/);
  });
});
