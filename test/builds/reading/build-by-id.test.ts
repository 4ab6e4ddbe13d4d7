import assert from "node:assert/strict";
import { it } from "node:test";
import { openApi, unknownId } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";

describeWorld("…/builds/{number} with the id of a build", openApi, (api) => {
  const newBuild = async () => {
    const { id, slug } = await api.newPipeline();
    await api.build(id);
    const builds = `/pipelines/${slug}/builds`;
    return { builds, build: (await api.send("GET", `${builds}/1`)).body };
  };

  it("is the build, and so are the addresses below it", async () => {
    const { builds, build } = await newBuild();
    const [job] = build.jobs;
    const path = `${builds}/${build.id}`;

    assert.deepEqual((await api.send("GET", `${builds}/${build.id.toUpperCase()}`)).body, build);
    assert.equal((await api.send("GET", `${path}/jobs/${job.id}`)).body.id, job.id);
    for (const below of ["jobs", "annotations", "artifacts", `jobs/${job.id}/log`, `jobs/${job.id}/env`])
      assert.equal((await api.send("GET", `${path}/${below}`)).status, 200, below);
  });

  it("is canceled and rebuilt", async () => {
    const { builds, build } = await newBuild();

    const canceled = await api.send("PUT", `${builds}/${build.id}/cancel`);
    const rebuilt = await api.send("PUT", `${builds}/${build.id}/rebuild`);

    assert.deepEqual([canceled.body.id, canceled.body.state], [build.id, "canceled"]);
    assert.equal(rebuilt.body.rebuilt_from.id, build.id);
  });

  it("is 404 in another pipeline", async () => {
    const [{ builds }, { build }] = [await newBuild(), await newBuild()];

    for (const id of [build.id, unknownId])
      for (const [method, below] of [
        ["GET", ""],
        ["PUT", "/cancel"],
        ["PUT", "/rebuild"],
        ["GET", "/jobs"],
      ] as const)
        assert.equal((await api.send(method, `${builds}/${id}${below}`)).status, 404);
  });
});
