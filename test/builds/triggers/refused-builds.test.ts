import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { describeWorld, withSettings } from "../../helpers/databases.ts";
import { openChain } from "./open-chain.ts";

describeWorld("a trigger step whose build cannot be made", openChain, (chain) => {
  /** The state of the only step, and the reason that its page names. */
  const trigger = async (target: string, more: object = {}) => {
    const slug = await chain.newPipeline([{ trigger: target, ...more }]);
    await chain.build(slug);
    const { jobs, state } = await chain.show(slug);
    const { db } = chain.api.world.services;
    const [row] = await db.select().from(db.tables.jobs).where(eq(db.tables.jobs.id, jobs[0].id));
    return { slug, state, job: jobs[0].state, reason: row?.failureReason, built: jobs[0].triggered_build };
  };

  it("fails for an unknown, a deleted and an archived pipeline", async () => {
    const unknown = await trigger("nowhere");
    assert.deepEqual(
      [unknown.state, unknown.job, unknown.reason, unknown.built],
      ["failed", "failed", "There is no pipeline nowhere", null],
    );
    const deleted = await chain.newPipeline([{ command: "make" }]);
    await chain.must("DELETE", `/pipelines/${deleted}`);
    assert.equal((await trigger(deleted)).reason, `There is no pipeline ${deleted}`);

    const archived = await chain.newPipeline([{ command: "make" }]);
    await chain.must("POST", `/pipelines/${archived}/archive`);
    assert.equal((await trigger(archived)).reason, `The pipeline ${archived} is archived`);
    assert.deepEqual(await chain.builds(archived), []);
  });

  it("fails softly if the step says so", async () => {
    const { state, job } = await trigger("nowhere", { soft_fail: true });
    assert.deepEqual([state, job], ["passed", "failed"]);
  });

  it("fails for meta-data that no build may have", async () => {
    const target = await chain.newPipeline([{ command: "make" }]);
    const key = `${chain.api.world.config.serviceName}:webhook`;
    const { reason } = await trigger(target, { build: { meta_data: { [key]: "x" } } });
    assert.equal(reason, `Its build is not valid: The key ${key} is reserved`);
    assert.deepEqual(await chain.builds(target), []);
  });

  it("fails if the pipeline leaves the branch out", async () => {
    const target = await chain.newPipeline([{ command: "make" }], { branch_configuration: "release" });
    assert.equal((await trigger(target)).job, "failed");
    assert.equal((await trigger(target, { build: { branch: "release" } })).job, "running");
    await chain.run();
  });

  it("fails while the organization's storage is full", async () => {
    const { db } = chain.api.world.services;
    const setKept = (keptBytes: number) =>
      db.transaction(async (tx) => void (await tx.update(tx.tables.organizations).set({ keptBytes })));
    const target = await chain.newPipeline([{ command: "make" }]);
    const slug = await chain.newPipeline([{ command: "a" }, "wait" as never, { trigger: target }]);
    await chain.build(slug);
    await setKept(Number.MAX_SAFE_INTEGER);
    await chain.run();
    await setKept(0);

    assert.deepEqual(await chain.states(slug), ["failed", "passed", "passed", "failed"]);
    assert.deepEqual(await chain.builds(target), []);
  });

  it("fails for the eleventh build of a chain, which ends circles", async () => {
    const { slug } = await trigger("circle-later");
    await chain.must("PATCH", `/pipelines/${slug}`, { body: { steps: [{ trigger: slug }] } });
    await chain.build(slug);

    const builds = await chain.builds(slug);
    assert.equal(builds.length, 1 + 10); // the first build was refused
    assert.ok(builds.every(({ state }: { state: string }) => state === "failed"));
    const { jobs } = await chain.show(slug, 11);
    assert.equal(jobs[0].triggered_build, null);
  });
});

// A worker may do a late task before older ones, so that builds are made depth first: ten are within this depth.
const few = { TRIGGER_DEPTH: "20", BUILDS_PER_ROOT: "10" };

describeWorld("the builds of one first build", withSettings(openChain, few), (chain) => {
  it("have a bound of their own, whatever the width of their chains", async () => {
    const bomb = await chain.newPipeline([{ command: "make" }]);
    const steps = [{ trigger: bomb, parallelism: 4, async: true }];
    await chain.must("PATCH", `/pipelines/${bomb}`, { body: { steps } });
    const rounds = 2; // the second one is a root of its own
    for (let round = 1; round <= rounds; round++) {
      await chain.build(bomb);
      const { db } = chain.api.world.services;
      const { builds, jobs } = db.tables;
      const [pipeline] = await db
        .select()
        .from(db.tables.pipelines)
        .where(eq(db.tables.pipelines.slug, bomb));
      const made = await db
        .select()
        .from(builds)
        .where(eq(builds.pipelineId, pipeline?.id ?? ""));
      assert.equal(made.length, round * 11);
      assert.equal(new Set(made.map(({ rootBuildId }) => rootBuildId)).size, 1 + round);
      const reasons = await db
        .select({ reason: jobs.failureReason })
        .from(jobs)
        .where(eq(jobs.state, "failed"));
      assert.deepEqual(
        [...new Set(reasons.map(({ reason }) => reason))],
        ["The first build of its chain has triggered 10 builds, which is the most"],
      );
    }
  });
});

describeWorld("a chain of builds", withSettings(openChain, { TRIGGER_DEPTH: "4" }), (chain) => {
  it("has a depth that is a setting", async () => {
    const line = await chain.newPipeline([{ command: "make" }]);
    await chain.must("PATCH", `/pipelines/${line}`, { body: { steps: [{ trigger: line }] } });
    await chain.build(line);
    assert.equal((await chain.builds(line)).length, 4);
  });
});
