import assert from "node:assert/strict";
import { it } from "node:test";
import createClient from "openapi-fetch";
import { openApi } from "../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import type { paths } from "./client-types.d.ts";

const collection = "/v2/organizations/{org}/clusters/{cluster}/queues";
const member = "/v2/organizations/{org}/clusters/{cluster}/queues/{queue}";

describeWorldOn(sqlite, "a client generated from the OpenAPI document", openApi, (api) => {
  const open = () =>
    createClient<paths>({
      baseUrl: api.world.url,
      headers: { Authorization: `Bearer ${api.adminToken}` },
    });

  it("calls all queue operations", async () => {
    const client = open();
    const path = { org: "acme", cluster: api.acme.cluster.id };

    const selfHosted = await client.POST(collection, {
      params: { path },
      body: { key: "linux", description: "Our own", retry_agent_affinity: "prefer-different" },
    });
    assert.equal(selfHosted.data?.retry_agent_affinity, "prefer-different");
    const hosted = await client.POST(collection, {
      params: { path },
      body: { key: "mac", hostedAgents: { instanceShape: "MACOS_ARM64_M4_6X28" } },
    });
    assert.equal(hosted.data?.hosted_agents?.instance_shape.machine_type, "macos");
    const queue = hosted.data?.id ?? "";
    const params = { path: { ...path, queue } };

    const updated = await client.PUT(member, {
      params,
      body: { hostedAgents: { instanceShape: "MACOS_ARM64_M4_12X56" } },
    });
    assert.equal(updated.data?.hosted_agents?.instance_shape.cpu, 12);
    const patched = await client.PATCH(member, { params, body: { description: "Macs" } });
    assert.equal(patched.data?.description, "Macs");

    const paused = await client.POST(`${member}/pause_dispatch`, {
      params,
      body: { dispatch_paused_note: "Upgrade" },
    });
    assert.equal(paused.data?.dispatch_paused_by?.name, "Person");
    const again = await client.POST(`${member}/pause_dispatch`, { params });
    assert.deepEqual([again.response.status, again.error?.message], [422, "Cluster queue is already paused"]);
    const read = await client.GET(member, { params });
    assert.deepEqual(read.data, paused.data);
    const resumed = await client.POST(`${member}/resume_dispatch`, { params });
    assert.equal(resumed.data?.dispatch_paused_note, null);

    const listed = await client.GET(collection, { params: { path, query: { per_page: 2, page: 2 } } });
    assert.deepEqual(
      listed.data?.map(({ key }) => key),
      ["mac"],
    );
    const deleted = await client.DELETE(member, { params });
    assert.deepEqual([deleted.response.status, deleted.error], [204, undefined]);
    const gone = await client.GET(member, { params });
    assert.deepEqual([gone.response.status, gone.error?.message], [404, "No cluster queue found"]);
  });
});
