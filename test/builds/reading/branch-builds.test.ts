import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import {
  listNumberedForRows,
  listOfDefaultBranches,
} from "../../../shared/builds/reading/branch-builds-store.ts";
import type { BuildState } from "../../../shared/vocabulary.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";

describeWorld("the last builds of default branches", openApi, (api) => {
  /** A pipeline with builds of these branches and states. */
  const pipelineWith = async (defaultBranch: string, made: [branch: string, state: BuildState][]) => {
    const { db } = api.world.services;
    const { builds } = db.tables;
    const { id, slug } = await api.newPipeline({ default_branch: defaultBranch });
    for (const [branch, state] of made) {
      await api.build(id);
      const last = (await api.send("GET", `/pipelines/${slug}/builds`)).body[0];
      await db.transaction((tx) => tx.update(builds).set({ branch, state }).where(eq(builds.id, last.id)));
    }
    return id;
  };
  const numbersOf = async (ids: string[], limit: number) => {
    const found = await listOfDefaultBranches(api.world.services.db, { ids, limit });
    return ids.map((id) => found.filter(({ pipelineId }) => pipelineId === id).map(({ number }) => number));
  };

  it("are the newest of all states, newest first, so many of each pipeline", async () => {
    const one = await pipelineWith("main", [
      ["main", "passed"],
      ["other", "passed"],
      ["main", "failed"],
      ["main", "passed"],
      ["main", "running"],
    ]);
    const other = await pipelineWith("trunk", [
      ["trunk", "passed"],
      ["main", "passed"],
    ]);

    assert.deepEqual(await numbersOf([one, other], 3), [[5, 4, 3], [1]]);
    assert.deepEqual(await numbersOf([one, other], 20), [[5, 4, 3, 1], [1]]);
  });

  it("are told from those of a branch that begins with the same hundred characters", async () => {
    for (const length of [99, 100, 101]) {
      const name = "b".repeat(length);
      const id = await pipelineWith(name, [
        [`${name}b`, "passed"],
        [name, "passed"],
        [`${name}c`, "passed"],
      ]);
      assert.deepEqual(await numbersOf([id], 1), [[2]], `${length} characters`);
    }
  });

  it("are found by their numbers, each in its pipeline", async () => {
    const [one, other] = [
      await pipelineWith("main", [["main", "passed"]]),
      await pipelineWith("main", [
        ["main", "passed"],
        ["main", "passed"],
      ]),
    ];

    const found = await listNumberedForRows(api.world.services.db, [
      { pipelineId: one, number: 2 },
      { pipelineId: other, number: 2 },
    ]);

    assert.deepEqual(
      found.map(({ pipelineId, number }) => [pipelineId, number]),
      [[other, 2]],
    );
    assert.deepEqual(await listNumberedForRows(api.world.services.db, []), []);
  });
});
