import assert from "node:assert/strict";
import { it } from "node:test";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { agentTokenOf, startAgent } from "../../../helpers/agent.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorld("the page of a job that promised to fail", startQueuePages, (pages) => {
  it("has the promised exit status while the job runs, and then the real one", async () => {
    const { services, actor, acme, paths } = pages;
    const steps = [{ command: "make" }, { command: "make install" }];
    const pipeline = await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name: "promising",
      steps,
    });
    await createBuildByHand(services, actor, pipeline, {});
    const agent = await startAgent(pages.url, await agentTokenOf(pages, acme.cluster));
    const job = (await agent.offered()) ?? "";
    const { token } = await agent.begin(job);
    const bob = await pages.visitor(pages.bob);
    const build = `${paths.pipelines}/promising/builds/1`;
    const textOf = async (path: string) =>
      (await bob.get(path)).text.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
    assert.doesNotMatch(await textOf(`${build}/jobs/${job}`), /Promised/);

    const { status } = await agent.send("PUT", `/jobs/${job}/promise_failure`, { exit_status: 3 }, token);

    assert.equal(status, 204);
    assert.match(await textOf(`${build}/jobs/${job}`), /running .* Promised exit status 3 /);
    assert.match(await textOf(build), /Failing, running for/);
    await agent.finish(job, 4, token);
    const after = await textOf(`${build}/jobs/${job}`);
    assert.match(after, /Exit status 4 /);
    assert.doesNotMatch(after, /Promised/);
  });
});
