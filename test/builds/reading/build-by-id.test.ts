import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { allOfBuild } from "../../../ingress/api/build-filter.ts";
import { writeBuilds } from "../../../ingress/api/json/builds.ts";
import { PipelineTexts } from "../../../ingress/api/json/pipelines.ts";
import { requireSome } from "../../../ingress/http/transfers/json-stream.ts";
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

  it("is 404 if it is deleted before it is read for the answer", async () => {
    const { services } = api.world;
    const { organizations } = services.db.tables;
    const [organization] = await services.db
      .select()
      .from(organizations)
      .where(eq(organizations.id, api.acme.id));
    assert.ok(organization);
    const request = new Request(api.world.url);
    const texts = await PipelineTexts.open(services, organization, [api.acme.pipeline.id], { request });
    const answer = { organization, content: allOfBuild, texts, sizes: new Map() };

    const parts = writeBuilds(services, [{ id: unknownId, pipelineId: api.acme.pipeline.id }], answer);

    await assert.rejects(requireSome(parts, "build").next(), { message: "No build found" });
  });
});
