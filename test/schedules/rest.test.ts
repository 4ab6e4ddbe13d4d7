import assert from "node:assert/strict";
import { it } from "node:test";
import { graphqlId, openApi, timestamp } from "../helpers/api.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";

const open = withSettings(openApi, { SCHEDULES_PER_PIPELINE: "3" });

describeWorld("schedules in REST", open, (api) => {
  const newPipeline = async () => {
    const { slug, id } = await api.newPipeline({ default_branch: "trunk" });
    return { slug, id, at: `/pipelines/${slug}/schedules` };
  };

  it("have the documented members", async () => {
    const { slug, id: pipelineId, at } = await newPipeline();
    const body = { label: "Nightly", cronline: "@daily", message: "At night", env: { STAGE: "beta" } };

    const { status, body: made } = await api.send("POST", at, { body });

    assert.equal(status, 201);
    const { id, created_by, created_at, next_build_at, ...rest } = made;
    assert.match(created_at, timestamp);
    assert.match(next_build_at, /T00:00:00\.000Z$/);
    assert.equal(created_by.id, api.admin.id);
    const base = "https://api.example.com/v2/organizations/acme";
    assert.deepEqual(rest, {
      graphql_id: graphqlId("PipelineSchedule", id),
      url: `${base}${at}/${id}`,
      ...body,
      commit: "HEAD",
      branch: "trunk",
      enabled: true,
      failed_message: null,
      failed_at: null,
      pipeline: { id: pipelineId, slug, url: `${base}/pipelines/${slug}` },
    });
    assert.deepEqual((await api.send("GET", `${at}/${id}`)).body, made);
  });

  it("are listed newest first, changed and deleted", async () => {
    const { at } = await newPipeline();
    const ids: string[] = [];
    for (const cronline of ["@daily", "@hourly"])
      ids.unshift((await api.send("POST", at, { body: { cronline } })).body.id);

    const listed = await api.send("GET", at);
    assert.deepEqual(
      listed.body.map(({ id }: { id: string }) => id),
      ids,
    );
    const paged = await api.send("GET", `${at}?per_page=1&page=2`);
    assert.deepEqual([paged.body.length, paged.body[0].id], [1, ids[1]]);

    const one = `${at}/${ids[0]}`;
    const change = { enabled: false, cronline: "0 8 * * 1-5 Europe/Berlin", env: { A: "1" }, branch: "dev" };
    const changed = await api.send("PUT", one, { body: change });
    assert.equal(changed.status, 200);
    const { enabled, cronline, env, branch } = changed.body;
    assert.deepEqual({ enabled, cronline, env, branch }, change);
    assert.equal(changed.body.next_build_at, null);
    const again = await api.send("PATCH", one, { body: { enabled: true, branch: null, env: null } });
    assert.deepEqual([again.body.branch, again.body.env], ["trunk", {}]);
    assert.match(again.body.next_build_at, /T0[67]:00:00\.000Z$/);

    assert.equal((await api.send("DELETE", one)).status, 204);
    assert.equal((await api.send("GET", one)).status, 404);
    assert.equal((await api.send("PUT", one, { body: {} })).status, 404);
  });

  it("are refused with all reasons", async () => {
    const { at } = await newPipeline();
    const post = async (body: object) => {
      const { status, body: answer } = await api.send("POST", at, { body });
      return [status, answer.message];
    };
    assert.deepEqual(await post({}), [422, "Validation failed: Cronline can't be blank"]);
    assert.deepEqual(await post({ cronline: `0 0 * * * ${"x".repeat(10_000)}` }), [
      422,
      "Validation failed: Cronline is too long (maximum is 200 characters)",
    ]);
    assert.deepEqual(await post({ cronline: "*/5 * * * *" }), [
      422,
      "Validation failed: Cronline comes every 5 minutes: at least 10 minutes must lie between two times",
    ]);
    const [status, message] = await post({ cronline: "nightly", label: 5, env: [], enabled: "yes" });
    assert.equal(status, 422);
    for (const reason of [/Label must be text/, /Cronline must have five fields/, /Env must/, /Enabled must/])
      assert.match(message, reason);
    const narrow = await api.tokenOf(api.admin, ["read_pipelines"]);
    const refused = await api.send("POST", at, { body: { cronline: "@daily" }, token: narrow });
    assert.equal(refused.status, 403);
  });

  it("are as many of a pipeline as the setting says", async () => {
    const { at } = await newPipeline();
    for (let made = 0; made < 3; made++)
      assert.equal((await api.send("POST", at, { body: { cronline: "@daily" } })).status, 201);
    const { status, body } = await api.send("POST", at, { body: { cronline: "@daily" } });
    assert.equal(status, 422);
    assert.match(body.message, /3 schedules/);
  });
});
