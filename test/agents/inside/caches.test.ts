import assert from "node:assert/strict";
import { it } from "node:test";
import { openAgentApi, sendAsAgent } from "../../helpers/agent.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";

describeWorldOn(sqlite, "an agent's cache commands", openAgentApi, (api) => {
  const entry = {
    target_paths: ["node_modules"],
    cache_key: [{ value: "{{ checksum }}", mandatory: true }],
  };
  const setUp = async () => {
    const { newAgent } = await api.buildOnQueue({});
    const agent = await newAgent();
    const id = await agent.offered();
    assert.ok(id);
    const { token } = await agent.begin(id);
    const call = (method: string, path: string, body?: unknown) =>
      sendAsAgent(api.world.url, token, { method, path: `/cache_registries/${path}`, body });
    return { agent, id, token, call };
  };

  it("find nothing to restore, by the words that agents know", async () => {
    const { call } = await setUp();
    const { status, body, headers } = await call("POST", "default/retrieve", entry);
    assert.deepEqual([status, body.message], [404, "Cache entry not found"]);
    assert.match(headers.get("content-type") ?? "", /^application\/json/);
  });

  it("are told that there is nothing to save, and have a registry by any name", async () => {
    const { call } = await setUp();
    assert.equal((await call("POST", "my%20registry/peek", entry)).status, 200);
    const { status, body } = await call("GET", "my%20registry");
    assert.deepEqual([status, body.name], [200, "my registry"]);
    assert.equal((await call("POST", "default/expire", entry)).status, 200);
    assert.deepEqual(
      (await call("PUT", "default/store", { ...entry, blobs: [], platform: "linux/amd64" })).body,
      {
        message: "This server keeps no caches",
      },
    );
  });

  it("need the token of a job that runs", async () => {
    const { agent, id, token, call } = await setUp();
    await agent.finish(id, 0, token);
    assert.equal((await call("POST", "default/peek", entry)).status, 401);
  });
});
