import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import type { BuildState } from "../../shared/vocabulary.ts";
import { openApi, timestamp } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";

describeWorldOn(sqlite, "PUT …/builds/{number}/cancel", openApi, (api) => {
  const newBuild = async () => {
    const { id, slug } = await api.newPipeline({ steps: [{ command: "a" }, { command: "b" }] });
    await api.build(id);
    return { pipelineId: id, path: `/pipelines/${slug}/builds/1` };
  };
  const cancel = (path: string) => api.send("PUT", `${path}/cancel`);
  const setState = async (pipelineId: string, state: BuildState) => {
    await api.world.services.db.transaction(async (tx) => {
      const { builds } = tx.tables;
      await tx.update(builds).set({ state }).where(eq(builds.pipelineId, pipelineId));
    });
  };
  const message = "Build cannot be canceled: it has finished already";

  it("answers with the canceled build, whose jobs are never assigned", async () => {
    const { path } = await newBuild();
    const waiting = (await api.send("GET", path)).body;
    const { status, body } = await cancel(path);

    assert.equal(status, 200);
    assert.match(body.finished_at, timestamp);
    const { finished_at, job_state_counts } = body;
    assert.deepEqual(job_state_counts.states, { canceled: waiting.jobs.length });
    assert.deepEqual(body, {
      ...waiting,
      state: "canceled",
      finished_at,
      job_state_counts,
      jobs: waiting.jobs.map((job: object) => ({
        ...job,
        state: "canceled",
        waiting_reason: null,
        finished_at,
      })),
    });
    assert.deepEqual((await api.send("GET", path)).body, body);
  });

  it("cancels a running build and refuses a finished one", async () => {
    const running = await newBuild();
    await setState(running.pipelineId, "running");
    assert.equal((await cancel(running.path)).body.state, "canceled");

    for (const state of ["passed", "failed", "canceled"] as const) {
      const finished = await newBuild();
      await setState(finished.pipelineId, state);
      const { status, body } = await cancel(finished.path);
      assert.deepEqual([status, body], [422, { message }]);
      assert.equal((await api.send("GET", finished.path)).body.state, state);
    }
  });

  it("accepts exactly one of simultaneous cancels", async () => {
    const { path } = await newBuild();
    const answers = await Promise.all(Array.from({ length: 8 }, () => cancel(path)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(422)]);
  });

  it("accepts a request without a body, with or without a content type", async () => {
    for (const sent of [{}, { headers: { "Content-Type": "application/json" } }]) {
      const { path } = await newBuild();
      assert.equal((await api.send("PUT", `${path}/cancel`, sent)).status, 200);
    }
  });
});
