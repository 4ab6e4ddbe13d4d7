import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { jobSchema } from "../../../shared/presenters/job.ts";
import { agentTokenOf, startAgent } from "../../helpers/agent.ts";
import { openApi, unknownId } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";

describeWorld("a job that has everything", openApi, (api) => {
  const command = {
    command: "make",
    label: "L",
    artifact_paths: "a/*;b",
    signature: { value: "x" },
    agents: ["os=linux"],
    concurrency: 2,
    concurrency_group: "c",
    concurrency_method: "eager",
  };
  /** Members of other kinds of jobs, and one of jobs that wait. */
  const ofOthers = new Set([
    ...["label", "unblocked_by", "unblocked_at", "unblockable", "unblock_url", "async", "triggered_build"],
    "waiting_reason",
  ]);

  it("has every member set, wherever it is read", async () => {
    const steps = [
      { ...command, key: "parallel", parallelism: 2 },
      { ...command, key: "matrix", matrix: ["a", "b"] },
    ];
    const { id, slug } = await api.newPipeline({ steps: [{ group: "G", key: "g", steps }] });
    await api.build(id);
    const path = `/pipelines/${slug}/builds/1`;
    const read = async () => (await api.send("GET", `${path}?include_retried_jobs=true`)).body.jobs;
    const agent = await startAgent(api.world.url, await agentTokenOf(api.world, api.acme.cluster));
    await api.world.services.db.transaction(async (tx) => {
      const { jobs } = tx.tables;
      const now = tx.now;
      for (const job of await read())
        await tx
          .update(jobs)
          .set({
            state: "expired",
            agentId: agent.id,
            exitStatus: 1,
            softFailed: true,
            signal: "SIGKILL",
            signalReason: "cancel",
            failureReason: "f",
            brokenReason: "b",
            promisedExitStatus: 1,
            promisedAt: now,
            priority: 3,
            retriedInJobId: unknownId,
            retriedById: api.admin.id,
            retriesCount: 1,
            retryOfJobId: unknownId,
            retryType: "manual",
            limitedAt: now,
            scheduledAt: now,
            startedAt: now,
            finishedAt: now,
          })
          .where(eq(jobs.id, job.id));
    });

    const jobs = await read();
    const unset = Object.keys(jobSchema.shape).filter(
      (name) =>
        !ofOthers.has(name) && jobs.every((job: Record<string, unknown>) => (job[name] ?? null) === null),
    );
    assert.deepEqual(unset, []);
    assert.equal(jobs[0].artifact_paths, "a/*;b");
    assert.deepEqual(jobs[0].retried_by.id, api.admin.id);

    const listed = (await api.send("GET", `${path}/jobs`)).body.items;
    assert.deepEqual(listed, jobs);
    for (const job of jobs) assert.deepEqual((await api.send("GET", `/jobs/${job.id}`)).body, job);
  });

  it("names the person who retried it, and nobody if its step's rules did", async () => {
    const { id, slug } = await api.newPipeline();
    await api.build(id);
    const job = (await api.send("GET", `/pipelines/${slug}/builds/1`)).body.jobs[0].id;
    await api.send("PUT", `/jobs/${job}/retry`);
    assert.equal((await api.send("GET", `/jobs/${job}`)).body.retried_by, null);

    await api.send("PUT", `/pipelines/${slug}/builds/1/jobs/${job}/cancel`);
    const retry = await api.send("PUT", `/jobs/${job}/retry`);

    assert.deepEqual([retry.status, retry.body.retried_by], [200, null]);
    assert.equal((await api.send("GET", `/jobs/${job}`)).body.retried_by.id, api.admin.id);
  });
});
