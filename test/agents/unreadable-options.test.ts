import assert from "node:assert/strict";
import { it } from "node:test";
import { sql } from "drizzle-orm";
import { expireJobs } from "../../shared/agents/expire.ts";
import { dayMs } from "../../shared/durations.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";
import { enterJob } from "./inside/in-a-job.ts";

// Postgres stores a document with `\u0000` or half a surrogate pair, and then fails to read any member of it.
const unreadable = ["a\0b", "\ud83d"];

describeWorld("text that Postgres cannot read again", openApi, (api) => {
  it("422 in the signature of a step, and 400 in notices", async () => {
    const { update, slug, path } = await enterJob(
      api,
      { command: "a", key: "a" },
      { command: "b", key: "b" },
    );
    for (const text of unreadable) {
      const signature = { value: [{ [text]: "" }] };
      const steps = [{ command: "a", signature }];
      const { status, body } = await api.send("PATCH", `/pipelines/${slug}`, { body: { steps } });
      assert.deepEqual([status, /signature/.test(body.message)], [422, true]);
      for (const notify of [[text], [{ [text]: 1 }]])
        assert.equal((await update("a", "notify", JSON.stringify(notify))).status, 400);
    }
    assert.equal((await update("a", "notify", `${"[".repeat(8000)}${"]".repeat(8000)}`)).status, 400);
    assert.equal((await update("b", "label", "B")).status, 200);
    assert.equal((await api.send("PUT", `${path}/cancel`)).status, 200);
  });

  it("is not made of an emoji where a variable is cut", async () => {
    const { slug: target } = await api.newPipeline();
    const build = { message: "$A", meta_data: { short: `\${A:0:200}` } };
    const { slug } = await api.newPipeline({ steps: [{ trigger: target, build }, { command: "a" }] });
    const env = { A: `${"x".repeat(199)}😀` };
    const made = await api.send("POST", `/pipelines/${slug}/builds`, { body: { env } });
    assert.equal(made.status, 201);
    assert.equal((await api.send("PUT", `/pipelines/${slug}/builds/1/cancel`)).status, 200);
  });

  it("404 in the key of a step, and no page of groups behind it", async () => {
    const { get } = await enterJob(api, { command: "a", key: "a" });
    assert.equal(await get("%00", "label"), 404);
  });

  it("keeps no other job from expiring", async () => {
    const [{ id: bad }, { id: good, slug }] = [await api.newPipeline(), await api.newPipeline()];
    await api.build(bad);
    await api.build(good);
    const { db } = api.world.services;
    const { jobs, builds } = db.tables;
    const ofBad = sql`${jobs.buildId} in (select ${builds.id} from ${builds} where ${builds.pipelineId} = ${bad})`;
    await db.transaction((tx) =>
      tx
        .update(jobs)
        .set({ ownOptions: { signature: { value: "a\0b" } } })
        .where(ofBad),
    );

    api.world.clock.advance(31 * dayMs);
    await expireJobs(api.world.services);

    const { body } = await api.send("GET", `/pipelines/${slug}/builds/1`);
    assert.deepEqual([body.state, body.jobs[0].state], ["failed", "expired"]);
  });
});
