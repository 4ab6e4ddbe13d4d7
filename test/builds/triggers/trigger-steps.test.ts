import assert from "node:assert/strict";
import { it } from "node:test";
import { base, webBase } from "../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { openChain } from "./open-chain.ts";

describeWorldOn(sqlite, "a trigger step", openChain, (chain) => {
  const newTarget = (steps: object[] = [{ command: "make" }], more: object = {}) =>
    chain.newPipeline(steps, more);
  const trigger = async (target: string, more: object = {}, others: object[] = []) => {
    const slug = await chain.newPipeline([{ trigger: target, ...more }, ...others]);
    await chain.build(slug);
    return slug;
  };

  it("runs until its build has passed, and so does its own build", async () => {
    const target = await newTarget();
    const parent = await trigger(target, {}, ["wait", { command: "deploy" }] as never);
    assert.deepEqual(await chain.states(parent), ["running", "running", "waiting", "waiting"]);
    assert.deepEqual(await chain.states(target), ["scheduled", "scheduled"]);

    await chain.run();
    assert.deepEqual(await chain.states(target), ["passed", "passed"]);
    assert.deepEqual(await chain.states(parent), ["running", "passed", "passed", "scheduled"]);
    await chain.run();
    assert.deepEqual(await chain.states(parent), ["passed", "passed", "passed", "passed"]);
  });

  it("gives its build the documented defaults, and links both ways", async () => {
    const target = await newTarget([{ command: "make" }], { default_branch: "trunk" });
    const parent = await chain.newPipeline([{ trigger: target }]);
    const author = { name: "Ada", email: "ada@example.com" };
    const made = await chain.build(parent, { author });
    const child = await chain.show(target);
    const { message, commit, branch, source, creator, triggered_from } = child;

    assert.deepEqual(
      [message, commit, branch, source, creator.id, child.author],
      [`Triggered from ${parent} #1`, "HEAD", "trunk", "trigger_job", made.creator.id, author],
    );
    assert.deepEqual(triggered_from, { build_id: made.id, build_number: 1, build_pipeline_slug: parent });
    const [job] = (await chain.show(parent)).jobs;
    assert.deepEqual([job.type, job.async], ["trigger", false]);
    assert.deepEqual(job.triggered_build, {
      id: child.id,
      number: 1,
      url: `${base}/pipelines/${target}/builds/1`,
      web_url: `${webBase}/pipelines/${target}/builds/1`,
    });
    const one = await chain.must("GET", `/pipelines/${parent}/builds/1/jobs/${job.id}`);
    assert.deepEqual(one.triggered_build, job.triggered_build);
    await chain.run();
  });

  it("gives its build the members that it names, with variables of its own build", async () => {
    const target = await newTarget();
    const build = {
      message: "From $BUILDKITE_BRANCH",
      commit: "abc",
      branch: "release",
      env: { LEVEL: 3, BUILDKITE_PULL_REQUEST: "17", BUILDKITE_PULL_REQUEST_BASE_BRANCH: "main" },
      meta_data: { size: "big", count: 2 },
    };
    await trigger(target, { label: "Deploy", build });
    const { message, commit, branch, env, meta_data, pull_request } = await chain.show(target);

    assert.deepEqual([message, commit, branch, env.LEVEL], ["From main", "abc", "release", "3"]);
    assert.deepEqual(meta_data, { size: "big", count: "2" });
    assert.deepEqual([pull_request.id, pull_request.base], ["17", "main"]);

    const job = (await chain.agent.offered()) as string;
    const accepted = await chain.agent.begin(job);
    assert.equal(accepted.env.BUILDKITE_PULL_REQUEST, "17");
    await chain.agent.finish(job, 0, accepted.token);
    await chain.settle();
  });

  it("names its build by its label without a message", async () => {
    const target = await newTarget();
    await trigger(target, { label: "Deploy it" });
    assert.equal((await chain.show(target)).message, "Deploy it");
    await chain.run();
  });

  it("passes at once if it is async, whatever becomes of its build", async () => {
    const target = await newTarget();
    const parent = await trigger(target, { async: true });
    assert.deepEqual(await chain.states(parent), ["passed", "passed"]);

    await chain.run(1);
    assert.deepEqual(await chain.states(target), ["failed", "failed"]);
    assert.deepEqual(await chain.states(parent), ["passed", "passed"]);
    const [job] = (await chain.show(parent)).jobs;
    assert.equal(job.async, true);
    assert.equal(job.triggered_build.number, 1);
  });

  it("passes if its build has nothing to run", async () => {
    const target = await newTarget([{ command: "make", if: "false" }]);
    const parent = await trigger(target);
    assert.deepEqual(await chain.states(target), ["not_run", "broken"]);
    assert.deepEqual(await chain.states(parent), ["passed", "passed"]);
  });

  it("is left out by skip and by its condition", async () => {
    const target = await newTarget();
    const parent = await trigger(target, { skip: "not today" }, [{ trigger: target, if: "false" }]);
    assert.deepEqual(await chain.states(parent), ["not_run", "broken", "broken"]);
    assert.deepEqual(await chain.builds(target), []);
  });

  it("makes a build for each of its parallel jobs, which tells its jobs their place", async () => {
    const target = await newTarget();
    const parent = await trigger(target, { parallelism: 3, label: "Part %N" });
    const builds = await chain.builds(target);
    assert.deepEqual(builds.map(({ message }: { message: string }) => message).sort(), [
      "Part 1",
      "Part 2",
      "Part 3",
    ]);

    const places: string[] = [];
    for (let index = 0; index < 3; index++) {
      const id = (await chain.agent.offered()) as string;
      const { env, token } = await chain.agent.begin(id);
      places.push(`${env.BUILDKITE_PARALLEL_JOB} of ${env.BUILDKITE_PARALLEL_JOB_COUNT}`);
      await chain.agent.finish(id, 0, token);
      await chain.settle();
    }
    assert.deepEqual(places.sort(), ["0 of 3", "1 of 3", "2 of 3"]);
    assert.deepEqual(await chain.states(parent), ["passed", "passed", "passed", "passed"]);
  });

  it("tells the jobs and conditions of its build which build triggered it", async () => {
    const asked = (name: string) => `build.env("BUILDKITE_TRIGGERED_FROM_BUILD_${name}")`;
    const target = await newTarget([
      { command: "a", if: `${asked("NUMBER")} == "1" && build.source == "trigger_job"` },
      { command: "b", if: `${asked("PIPELINE_SLUG")} == "other"` },
    ]);
    const parent = await trigger(target);
    assert.deepEqual(await chain.states(target), ["scheduled", "scheduled", "broken"]);

    const id = (await chain.agent.offered()) as string;
    const { env, token } = await chain.agent.begin(id);
    const { id: parentId } = await chain.show(parent);
    assert.deepEqual(
      ["ID", "NUMBER", "PIPELINE_SLUG"].map((name) => env[`BUILDKITE_TRIGGERED_FROM_BUILD_${name}`]),
      [parentId, "1", parent],
    );
    assert.equal(env.BUILDKITE_SOURCE, "trigger_job");
    await chain.agent.finish(id, 0, token);
    await chain.settle();
  });
});
