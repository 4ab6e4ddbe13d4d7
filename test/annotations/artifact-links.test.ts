import assert from "node:assert/strict";
import { it } from "node:test";
import { listArtifactsOfPaths } from "../../shared/annotations/store.ts";
import { leaveArtifact } from "../artifacts/left-by-job.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";

describeWorldOn(sqlite, "the artifacts that an annotation names", openApi, (api) => {
  it("are the newest finished one of each path, however many have it", async () => {
    const { id, slug } = await api.newPipeline();
    await api.build(id);
    const { body: build } = await api.send("GET", `/pipelines/${slug}/builds/1`);
    const job = { id: build.jobs[0].id, buildId: build.id, organizationId: api.acme.id };
    const leave = (path: string, more: object = {}) =>
      leaveArtifact(api.world.services, job, { path, ...more });
    for (let index = 0; index < 30; index++) await leave("a");
    const [other, newest] = [await leave("b\\c"), await leave("a")];
    await leave("a", { state: "expired", isCounted: false });
    await leave("unnamed");

    const found = await listArtifactsOfPaths(api.world.services.db, build.id, ["a", "b/c", "b\\c", "d"]);

    assert.deepEqual(
      found.map(({ id, path }) => [id, path]),
      [
        [newest.id, "a"],
        [other.id, "b\\c"],
      ],
    );
  });
});
