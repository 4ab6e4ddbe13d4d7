import assert from "node:assert/strict";
import { it } from "node:test";
import { findTree, putGraph } from "../../shared/builds/rows/graph-store.ts";
import type { Node } from "../../shared/vocabulary.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("the graph of a build", openApi, (api) => {
  it("has the tree that was stored last, and never one that was rolled back", async () => {
    const { services } = api.world;
    const { slug } = await api.newPipeline();
    const { body: build } = await api.send("POST", `/pipelines/${slug}/builds`, { body: {} });
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
