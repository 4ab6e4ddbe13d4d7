import assert from "node:assert/strict";
import { it } from "node:test";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { openChain } from "./open-chain.ts";

describeWorldOn(sqlite, "the job of a trigger step", openChain, (chain) => {
  const setUp = async (targetSteps: object[] = [{ command: "make" }], more: object = {}) => {
    const target = await chain.newPipeline(targetSteps);
    const parent = await chain.newPipeline([
      { trigger: target, ...more },
      "wait" as never,
      { command: "deploy" },
    ]);
    await chain.build(parent);
    return { target, parent };
  };
  const jobsOf = async (slug: string) => (await chain.show(slug)).jobs;

  it("is canceled with its build, and the build with it, whose jobs cannot be retried then", async () => {
    const { target, parent } = await setUp();
    await chain.must("PUT", `/pipelines/${parent}/builds/1/cancel`);
    assert.deepEqual(await chain.states(parent), ["canceled", "canceled", "canceled", "canceled"]);
    assert.deepEqual(await chain.states(target), ["canceled", "canceled"]);

    const [job] = await jobsOf(target);
    const { status, body } = await chain.send("PUT", `/pipelines/${target}/builds/1/jobs/${job.id}/retry`);
    assert.deepEqual(
      [status, body.message],
      [422, "Job cannot be retried: the step that triggered its build was canceled"],
    );
  });

  it("makes another build when it is retried by hand", async () => {
    const { target, parent } = await setUp();
    await chain.run(1);
    const [failed] = await jobsOf(parent);
    const retry = await chain.must("PUT", `/pipelines/${parent}/builds/1/jobs/${failed.id}/retry`);
    assert.deepEqual([retry.type, retry.retry_source.job_id], ["trigger", failed.id]);

    assert.equal((await chain.builds(target)).length, 2);
    await chain.run();
    await chain.run();
    assert.deepEqual(await chain.states(parent), ["passed", "failed", "passed", "passed", "passed"]);
    // The first build has nothing to say any more.
    const [job] = await jobsOf(target);
    await chain.must("PUT", `/pipelines/${target}/builds/1/jobs/${job.id}/retry`);
    assert.equal((await chain.states(parent))[0], "passed");
    await chain.run();
  });

  it("passes while its build is blocked and counts as passed, else it runs on", async () => {
    const { target, parent } = await setUp([{ block: "Release" }, { command: "release" }]);
    assert.deepEqual((await chain.states(parent)).slice(0, 2), ["running", "passed"]);
    await chain.run();
    assert.equal((await chain.states(parent))[0], "passed");

    const [block] = await jobsOf(target);
    await chain.must("PUT", `/pipelines/${target}/builds/1/jobs/${block.id}/unblock`, { body: {} });
    assert.deepEqual((await chain.states(parent)).slice(0, 2), ["running", "running"]);
    await chain.run(1);
    assert.deepEqual((await chain.states(parent)).slice(0, 2), ["failed", "failed"]);

    const other = await setUp([{ block: "Release", blocked_state: "failed" }]);
    assert.deepEqual((await chain.states(other.parent)).slice(0, 2), ["running", "running"]);
    const [blocked] = await jobsOf(other.target);
    await chain.must("PUT", `/pipelines/${other.target}/builds/1/jobs/${blocked.id}/unblock`, { body: {} });
    assert.deepEqual((await chain.states(other.parent)).slice(0, 2), ["running", "passed"]);
    await chain.run();
  });

  it("is skipped if a newer build of the branch made its build outdated", async () => {
    const target = await chain.newPipeline([{ command: "make" }], { skip_queued_branch_builds: true });
    const parent = await chain.newPipeline([{ trigger: target }]);
    await chain.build(parent);
    await chain.build(target);
    assert.deepEqual(await chain.states(target, 1), ["skipped", "skipped"]);
    assert.deepEqual((await chain.states(parent)).slice(1), ["skipped"]);
    await chain.run();
  });
});
