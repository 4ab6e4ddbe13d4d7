import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { openApi, unique } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";
import { failedBuild, makeTimedBuild, type TimedJob } from "../ingress/pages/builds/timed-builds.ts";

const ended = { scheduledAfter: 0, startedAfter: 1, finishedAfter: 2, exitStatus: 1 };
const jobs: TimedJob[] = (["passed", "failed", "timed_out", "canceled", "expired", "failed"] as const).map(
  (state, index) => ({ step: { command: `make ${index}` }, state, ...ended }),
);
const soft = 5;

describeWorld("PUT …/retry_failed_jobs", openApi, (api) => {
  const make = async () => {
    const name = unique("retried");
    const { db } = api.world.services;
    const actor = { ...api.acme.operator, userId: api.admin.id };
    const build = await makeTimedBuild(api.world, actor, {
      clusterId: api.acme.cluster.id,
      name,
      ...failedBuild,
      jobs,
    });
    const table = db.tables.jobs;
    const rows = await db.select().from(table).where(eq(table.buildId, build.id)).orderBy(table.position);
    await db.transaction((tx) =>
      tx
        .update(table)
        .set({ softFailed: true })
        .where(eq(table.id, rows[soft]?.id ?? "")),
    );
    return `/pipelines/${name}/builds/1`;
  };
  const retry = async (path: string, body?: object) => api.send("PUT", `${path}/retry_failed_jobs`, { body });
  const retriedIn = async (path: string) => {
    const { body } = await api.send("GET", `${path}?include_retried_jobs=true`);
    return (body.jobs as { command: string; state: string; retried: boolean }[])
      .filter(({ retried }) => retried)
      .map(({ command }) => Number(command.slice(-1)));
  };

  it("retries all that failed, however they did, and says how many", async () => {
    const path = await make();

    const { status, body } = await retry(path);

    assert.deepEqual([status, body.retried_jobs_count, body.state], [202, 5, "running"]);
    assert.deepEqual(await retriedIn(path), [1, 2, 3, 4, 5]);
    const again = await retry(path);
    assert.deepEqual([again.status, again.body.retried_jobs_count], [202, 0]);
    assert.equal((await api.send("GET", path)).body.retried_jobs_count, undefined);
  });

  it("retries those that failed in the given ways", async () => {
    for (const [states, places] of [
      ["failed", [1]],
      ["soft_failed, timed_out", [2, 5]],
      ["canceled,expired", [3, 4]],
      ["", [1, 2, 3, 4, 5]],
    ] as const) {
      const path = await make();
      const { body } = await retry(path, { states });
      assert.equal(body.retried_jobs_count, places.length, states);
      assert.deepEqual(await retriedIn(path), places, states);
    }
  });

  it("names the ways that there are", async () => {
    const path = await make();

    const wrong = await retry(path, { states: "failed,lost" });

    assert.equal(wrong.status, 400);
    assert.equal(
      wrong.body.message,
      "Invalid states: lost. Valid states are canceled, expired, failed, soft_failed, timed_out.",
    );
    assert.equal((await retry(path, { states: ["failed"] })).status, 422);
    assert.deepEqual(await retriedIn(path), []);
  });
});
