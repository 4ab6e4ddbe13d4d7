import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { it } from "node:test";
import { agentTokenOf, sendAsAgent, startAgent } from "../../helpers/agent.ts";
import { base, graphqlId, openApi, unknownId } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";

describeWorld("…/builds/{number}/step-uploads", openApi, (api) => {
  /** A build whose first job runs. */
  const begin = async () => {
    const { key } = await api.newQueue();
    const on = (command: string) => ({ command, agents: { queue: key } });
    const pipeline = await api.newPipeline({ steps: [on("upload")] });
    await api.build(pipeline.id);
    const token = await agentTokenOf(api.world, api.acme.cluster);
    const agent = await startAgent(api.world.url, token, { meta_data: [`queue=${key}`] });
    const job = (await agent.offered()) as string;
    const begun = await agent.begin(job);
    const send = (path: string, body: object) =>
      sendAsAgent(api.world.url, begun.token, { method: "POST", path: `/jobs/${job}/${path}`, body });
    const upload = async (more: object = {}) => {
      const uuid = randomUUID();
      api.world.clock.advance(1000);
      const { status } = await send("pipelines", { uuid, pipeline: { steps: [on("a"), on("b")] }, ...more });
      return { uuid, status };
    };
    const path = `/pipelines/${pipeline.slug}/builds/1/step-uploads`;
    const list = async (query = "") => (await api.send("GET", path + query)).body;
    return { job, send, upload, list, path };
  };

  it("are the uploads of a build, newest first", async () => {
    const { job, upload, list, path } = await begin();
    assert.deepEqual((await list()).items, []);
    const first = await upload();
    const second = await upload({ replace: true });
    assert.equal((await upload({ pipeline: { steps: [{ command: {} }] } })).status, 422);

    const { items, links } = await list();
    const { created_at, processed_at, ...rest } = items[0];
    assert.deepEqual(rest, {
      uuid: second.uuid,
      graphql_id: graphqlId("BuildStepUpload", second.uuid),
      state: "applied",
      source: "job",
      source_job_id: job,
      replace_existing_steps: true,
      created_jobs_count: 2,
      rejection_type: null,
      message: null,
      url: `${base}${path}/${second.uuid}`,
    });
    assert.equal(created_at, processed_at);
    assert.deepEqual(
      items.map(({ uuid }: { uuid: string }) => uuid),
      [second.uuid, first.uuid],
    );
    assert.deepEqual(Object.keys(links), ["self"]);
    const definition = { definition_bytes: null, definition_yaml: null, definition_yaml_omitted: true };
    assert.deepEqual((await api.send("GET", `${path}/${second.uuid}`)).body, { ...items[0], ...definition });
  });

  it("come in pages, by job, and without updates of steps", async () => {
    const { job, send, upload, list } = await begin();
    const uuids = [(await upload()).uuid, (await upload()).uuid, (await upload()).uuid].reverse();
    const update = { attribute: "label", value: "L", step: job, idempotency_uuid: randomUUID() };
    assert.equal((await send(`step_update`, update)).status < 500, true);
    const ids = (page: { items: { uuid: string }[] }) => page.items.map(({ uuid }) => uuid);

    const first = await list("?per_page=2");
    const second = await list(new URL(first.links.next).search);
    const again = await list(new URL(second.links.prev).search);

    assert.deepEqual(
      [ids(first), ids(second), ids(again)],
      [uuids.slice(0, 2), uuids.slice(2), uuids.slice(0, 2)],
    );
    assert.deepEqual(ids(await list(`?filter[source_job_id]=${job}`)), uuids);
    assert.deepEqual(ids(await list(`?filter[source_job_id]=${unknownId}`)), []);
    assert.match((await list("?filter[source_job_id]=x")).message, /must be the id of a job/);
    assert.match((await list("?color=red")).message, /There is no filter color/);
  });

  it("are 404 in another build", async () => {
    const [one, other] = [await begin(), await begin()];
    const { uuid } = await one.upload();
    for (const id of [uuid, unknownId, "x"])
      assert.equal((await api.send("GET", `${other.path}/${id}`)).status, 404, id);
  });
});
