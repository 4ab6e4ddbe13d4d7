import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { findTree, listStandings, listUnsatisfied, putGraph } from "../../shared/builds/rows/graph-store.ts";
import { jobStates, type Node } from "../../shared/vocabulary.ts";
import { isUnsatisfied } from "../graph/model.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("the graph of a build", openApi, (api) => {
  const makeBuild = async (parallelism = 1): Promise<{ id: string }> => {
    const { slug } = await api.newPipeline({ steps: [{ command: "test", parallelism }] });
    return (await api.send("POST", `/pipelines/${slug}/builds`, { body: {} })).body;
  };

  it("is decided without the jobs that are satisfied, and with all others", async () => {
    const { services } = api.world;
    const build = await makeBuild(jobStates.length * 3);
    await services.db.transaction(async (tx) => {
      const { jobs } = tx.tables;
      const all = [...(await listStandings(tx, { buildId: build.id }))];
      const cases = jobStates.flatMap((state) => [
        { state },
        { state, softFailed: true },
        { state, retriedInJobId: all[0]?.id },
      ]);
      for (const [index, { id }] of all.entries())
        await tx
          .update(jobs)
          .set(cases[index] ?? {})
          .where(eq(jobs.id, id));

      const changed = await listStandings(tx, { buildId: build.id });
      const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).sort();
      const unsatisfied = changed.filter(isUnsatisfied);
      assert.ok(unsatisfied.length > jobStates.length && unsatisfied.length < changed.length);
      assert.deepEqual(idsOf(await listUnsatisfied(tx, { buildId: build.id })), idsOf(unsatisfied));
    });
  });

  it("has the tree that was stored last, and never one that was rolled back", async () => {
    const { services } = api.world;
    const build = await makeBuild();
    const treeOf = (key: string): Node[] => [{ id: build.id, key }];
    const put = async (key: string, fails = false) =>
      services.db.transaction(async (tx) => {
        await putGraph(tx, { ...build, hasGraph: false }, { tree: treeOf(key), warnings: [] });
        assert.deepEqual(await findTree(tx, build.id), treeOf(key));
        if (fails) throw new Error("rolled back");
      });

    assert.equal(await findTree(services.db, build.id), undefined);
    await put("first");
    await assert.rejects(put("second", true), /rolled back/);
    assert.deepEqual(await findTree(services.db, build.id), treeOf("first"));
    await put("third");
    assert.deepEqual(await findTree(services.db, build.id), treeOf("third"));
  });
});
