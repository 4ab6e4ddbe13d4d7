import assert from "node:assert/strict";
import { it } from "node:test";
import { openAgentApi, startAgent } from "../helpers/agent.ts";
import { describeWorld } from "../helpers/databases.ts";

// Members that clients of the hosted service read or set.

describeWorld("members of a pipeline for clients", openAgentApi, (api) => {
  const refusalOf = async (member: object) => {
    const { slug } = await api.newPipeline();
    const { status, body } = await api.send("PATCH", `/pipelines/${slug}`, { body: member });
    assert.equal(status, 422, JSON.stringify(member));
    return body.message;
  };

  it("builds are not rebuilt while it allows none", async () => {
    const { slug } = await api.newPipeline({ allow_rebuilds: false });
    const build = { commit: "HEAD", branch: "main", message: "First" };
    const { number } = (await api.send("POST", `/pipelines/${slug}/builds`, { body: build })).body;
    const rebuild = () => api.send("PUT", `/pipelines/${slug}/builds/${number}/rebuild`);

    const { status, body } = await rebuild();
    assert.deepEqual([status, body.message], [422, "Rebuilds are not allowed for this pipeline"]);

    await api.send("PATCH", `/pipelines/${slug}`, { body: { allow_rebuilds: true } });
    assert.equal((await rebuild()).status, 200);
  });

  it("agents get the address of its mirror", async () => {
    const { key } = await api.newQueue();
    const steps = [{ command: "true", agents: { queue: key } }];
    const { id } = await api.newPipeline({ clone_mirror_url: "git@mirror.example.com:acme/web.git", steps });
    await api.build(id);

    const agent = await startAgent(api.world.url, api.agentToken, { meta_data: [`queue=${key}`] });
    const { env } = await agent.begin((await agent.offered()) as string);
    assert.equal(env.BUILDKITE_GIT_REMOTE_MIRROR_URL, "git@mirror.example.com:acme/web.git");
  });

  it("the address of its mirror has no password, query or fragment", async () => {
    for (const [url, problem] of [
      ["https://ada:secret@example.com/web.git", "no user name and no password"],
      ["https://ada@example.com/web.git", "no user name and no password"],
      ["https://example.com/web.git?a=1", "no query and no fragment"],
      ["https://example.com/web.git#main", "no query and no fragment"],
      ["file:/etc/passwd", "an address of https or ssh"],
    ] as const)
      assert.match(await refusalOf({ clone_mirror_url: url }), new RegExp(problem));
    const { slug } = await api.newPipeline();
    for (const url of ["ssh://git@example.com/web.git", "", null]) {
      const { status, body } = await api.send("PATCH", `/pipelines/${slug}`, {
        body: { clone_mirror_url: url },
      });
      assert.deepEqual([status, body.clone_mirror_url], [200, url || null]);
    }
  });

  it("refuses what would let others see it, or hand it to a team", async () => {
    assert.match(await refusalOf({ visibility: "public" }), /Visibility must be private/);
    assert.match(await refusalOf({ teams: { x: "read_only" } }), /Teams must be empty/);
    assert.match(await refusalOf({ teams: ["x"] }), /Teams must be empty/);
    assert.match(await refusalOf({ team_uuids: ["x"] }), /Teams must be empty/);
    for (const teams of [5, true, "", "x"]) assert.match(await refusalOf({ teams }), /Teams must be empty/);
    assert.match(await refusalOf({ pipeline_template_uuid: "x" }), /This server has no pipeline templates/);
    const { slug } = await api.newPipeline({
      visibility: "private",
      teams: [],
      pipeline_template_uuid: null,
    });
    const { status } = await api.send("PATCH", `/pipelines/${slug}`, {
      body: { visibility: null, teams: {} },
    });
    assert.equal(status, 200);
  });

  it("has at most 10 tags", async () => {
    const tags = ["web", ":terraform:"];
    const { slug } = await api.newPipeline({ tags });
    assert.deepEqual((await api.send("GET", `/pipelines/${slug}`)).body.tags, tags);
    for (const wrong of [Array(11).fill("x"), [" "], [1], "web"])
      assert.match(await refusalOf({ tags: wrong }), /Tag/);
    const { body } = await api.send("PATCH", `/pipelines/${slug}`, { body: { tags: [] } });
    assert.equal(body.tags, null);
  });
});
