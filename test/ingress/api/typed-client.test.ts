import assert from "node:assert/strict";
import { it } from "node:test";
import createClient from "openapi-fetch";
import { openApi } from "../../helpers/api.ts";
import { decide } from "../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { post } from "../../helpers/http.ts";
import type { paths } from "./client-types.d.ts";

const collection = "/v2/organizations/{org}/clusters/{cluster}/queues";
const member = "/v2/organizations/{org}/clusters/{cluster}/queues/{queue}";
const triggers = "/v2/organizations/{org}/pipelines/{slug}/triggers";
const trigger = `${triggers}/{trigger}` as const;
const delivery = `${trigger}/deliveries/{delivery}` as const;

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

  it("calls all operations on triggers and deliveries", async () => {
    const client = open();
    const path = { org: "acme", slug: "web" };

    const created = await client.POST(triggers, {
      params: { path },
      body: {
        type: "github",
        label: "Pushes",
        build: { branch: "dev", environment: { COLOUR: "blue" } },
        verification: { strategy: "hmac", secret: "s3cret" },
      },
    });
    assert.equal(created.response.status, 201);
    assert.deepEqual(created.data?.build.environment_variables, ["COLOUR"]);
    const endpoint = new URL(created.data?.endpoint_url ?? "");
    const params = { path: { ...path, trigger: created.data?.id ?? "" } };
    const patched = await client.PATCH(trigger, {
      params,
      body: { build: { message: "From outside" }, verification: null, filter: null },
    });
    assert.deepEqual([patched.data?.build.message, patched.data?.verification], ["From outside", null]);
    const read = await client.GET(trigger, { params });
    assert.deepEqual(read.data, patched.data);
    const listed = await client.GET(triggers, { params: { path, query: { per_page: 1 } } });
    assert.deepEqual([listed.data?.items, listed.data?.links.next], [[read.data], undefined]);

    const { id } = (await post(api.world.url + endpoint.pathname, '{"a":1}')).body;
    await decide(api.world.services, [id]);
    const deliveries = await client.GET(`${trigger}/deliveries`, { params });
    assert.deepEqual(
      deliveries.data?.items.map(({ status, builds }) => [status, builds.length]),
      [["build_created", 1]],
    );
    const of = { params: { path: { ...params.path, delivery: id } } };
    const one = await client.GET(delivery, of);
    assert.deepEqual(one.data, deliveries.data?.items[0]);
    const request = await client.GET(`${delivery}/request`, of);
    assert.deepEqual(request.data?.payload, { a: 1 });
    const rebuilt = await client.POST(`${delivery}/rebuild`, of);
    assert.deepEqual(
      rebuilt.data?.builds.map(({ number }) => number),
      [1, 2],
    );

    const deleted = await client.DELETE(trigger, { params });
    assert.deepEqual([deleted.response.status, deleted.error], [204, undefined]);
    const gone = await client.GET(trigger, { params });
    assert.deepEqual([gone.response.status, gone.error?.message], [404, "No pipeline trigger found"]);
  });
});
