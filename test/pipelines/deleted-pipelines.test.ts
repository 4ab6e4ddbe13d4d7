import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { purgeBuilds } from "../../shared/builds/keeping/purge.ts";
import { newIds } from "../../shared/ids.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("a deleted pipeline", openApi, (api) => {
  const rowOf = async (id: string) => {
    const { db } = api.world.services;
    const { pipelines } = db.tables;
    return (await db.select().from(pipelines).where(eq(pipelines.id, id)))[0];
  };

  it("keeps its name, but none of its large members", async () => {
    const large = { description: "d".repeat(1000), repository: "https://example.com/web.git" };
    const { id, slug } = await api.newPipeline({ ...large, env: { TOKEN: "x".repeat(60_000) } });
    const before = await rowOf(id);
    assert.ok(before?.environmentSealed && before.steps.length > 0);

    assert.equal((await api.send("DELETE", `/pipelines/${slug}`)).status, 204);

    const row = await rowOf(id);
    assert.deepEqual(
      [row?.slug, row?.steps, row?.environmentSealed, row?.description, row?.repository],
      [slug, [], null, null, null],
    );
  });

  it("keeps all of them if it has unfinished jobs, and so is not deleted", async () => {
    const { id, slug } = await api.newPipeline({ env: { TOKEN: "x" } });
    await api.build(id);
    const before = await rowOf(id);

    assert.equal((await api.send("DELETE", `/pipelines/${slug}`)).status, 422);

    assert.deepEqual(await rowOf(id), before);
  });

  it("has its builds purged, however many were deleted before and after it", async () => {
    const { db, clock } = api.world.services;
    const { id, slug } = await api.newPipeline();
    await api.build(id, 3);
    for (const number of [1, 2, 3])
      assert.equal((await api.send("PUT", `/pipelines/${slug}/builds/${number}/cancel`)).status, 200);
    assert.equal((await api.send("DELETE", `/pipelines/${slug}`)).status, 204);
    const row = await rowOf(id);
    assert.ok(row);
    const times = [row.createdAt.getTime() - 60_000, clock.now().getTime() + 60_000];
    const others = times.flatMap((time) =>
      newIds(new Date(time), 600).map((other) => ({ ...row, id: other })),
    );
    await db.transaction((tx) => tx.insertMany(tx.tables.pipelines, others));

    const purged = await purgeBuilds(api.world.services, async () => {});

    const { builds } = db.tables;
    const left = await db.select().from(builds).where(eq(builds.pipelineId, id));
    assert.deepEqual([purged, left], [3, []]);
  });
});
