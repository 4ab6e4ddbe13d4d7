import assert from "node:assert/strict";
import { before, it } from "node:test";
import { listAuditEvents } from "../../shared/accounts/audit-store.ts";
import { findRegistrar } from "../../shared/agents/tokens.ts";
import { base, graphqlId, openApi, timestamp, unknownId } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";
import { setUpOrganization } from "../helpers/organization.ts";

describeWorld("…/clusters/:id/tokens", openApi, (api) => {
  let path: string;
  before(async () => {
    path = `/clusters/${api.acme.cluster.id}/tokens`;
  });

  const create = (body: unknown = { description: "Machines in the basement" }) =>
    api.send("POST", path, { body });
  const refusal = async (body: unknown) => {
    const answer = await create(body);
    return [answer.status, answer.body.message];
  };

  it("creates a token, which only this answer shows", async () => {
    const created = await create({ description: "Basement", allowed_ip_addresses: "0.0.0.0/0" });

    const { token, ...rest } = created.body;
    const { cluster, admin } = { ...api.acme, admin: api.admin };
    assert.equal(created.status, 201);
    assert.match(token, /^sbct_[0-9A-Za-z]{49}$/);
    assert.match(rest.created_at, timestamp);
    assert.partialDeepStrictEqual(
      { ...rest, created_at: "", created_by: rest.created_by.id },
      {
        id: rest.id,
        graphql_id: graphqlId("ClusterToken", rest.id),
        description: "Basement",
        allowed_ip_addresses: "0.0.0.0/0",
        queue_id: null,
        url: `${base}${path}/${rest.id}`,
        cluster_url: `${base}/clusters/${cluster.id}`,
        created_at: "",
        created_by: admin.id,
        expires_at: null,
        last_used_at: null,
      },
    );
    assert.deepEqual((await api.send("GET", `${path}/${rest.id}`)).body, rest);
    assert.doesNotMatch((await api.send("GET", path)).text, /sbct_/);
    assert.equal((await findRegistrar(api.world.services, token))?.cluster.id, cluster.id);
  });

  it("creates a token of one queue, and one that expires", async () => {
    const expiresAt = new Date(api.world.clock.now().getTime() + 3_600_000).toISOString();
    const created = await create({ queue_id: api.acme.queue.id, expires_at: expiresAt });

    assert.equal(created.status, 201);
    assert.deepEqual(
      [created.body.description, created.body.queue_id, created.body.expires_at],
      ["", api.acme.queue.id, expiresAt],
    );
  });

  it("takes every way to allow all addresses", async () => {
    for (const given of [
      "0.0.0.0/0 ::/0",
      "::/0 0.0.0.0/0",
      " 0.0.0.0/0\n\t::/0 ",
      "0.0.0.0/0 0.0.0.0/0",
      " ",
    ]) {
      const created = await create({ allowed_ip_addresses: given });
      assert.deepEqual([created.status, created.body.allowed_ip_addresses], [201, "0.0.0.0/0"], given);
    }
  });

  it("refuses addresses, queues and times that it cannot keep to", async () => {
    const other = await setUpOrganization(api.world, "neighbor");
    const addresses =
      "Validation failed: Allowed IP addresses are not supported: leave them out, or set 0.0.0.0/0";
    const queue = "Validation failed: Queue must be a queue of the cluster";

    assert.deepEqual(await refusal({ allowed_ip_addresses: "10.0.0.0/8" }), [422, addresses]);
    assert.deepEqual(await refusal({ allowed_ip_addresses: "0.0.0.0/0 10.0.0.0/8" }), [422, addresses]);
    assert.deepEqual(await refusal({ allowed_ip_addresses: "::/0" }), [422, addresses]);
    for (const queue_id of [unknownId, "x", other.queue.id, 7])
      assert.deepEqual(await refusal({ queue_id }), [422, queue]);
    assert.deepEqual(await refusal({ expires_at: "2020-01-01T00:00:00Z" }), [
      422,
      "Validation failed: Expiry must be in the future",
    ]);
    assert.equal((await create({ expires_at: "soon" })).status, 422);
    assert.deepEqual(await refusal({ description: "x".repeat(256) }), [
      422,
      "Validation failed: Description is too long (maximum is 255 characters)",
    ]);
    assert.deepEqual(await refusal({ description: 7 }), [422, "Validation failed: Description must be text"]);
    for (const allowed_ip_addresses of ["", null])
      assert.equal((await create({ allowed_ip_addresses })).status, 201);
  });

  it("changes the description, and nothing else", async () => {
    const { id } = (await create()).body;

    const changed = await api.send("PATCH", `${path}/${id}`, { body: { description: "Attic" } });
    const unchanged = await api.send("PUT", `${path}/${id}`, { body: {} });
    const refused = await api.send("PATCH", `${path}/${id}`, { body: { allowed_ip_addresses: "::1" } });
    const cleared = await api.send("PATCH", `${path}/${id}`, { body: { description: null } });

    assert.deepEqual([changed.status, changed.body.description], [200, "Attic"]);
    assert.deepEqual([unchanged.status, unchanged.body.description], [200, "Attic"]);
    assert.equal(refused.status, 422);
    assert.deepEqual([cleared.status, cleared.body.description], [200, ""]);
  });

  it("revokes a token once; it then registers nothing", async () => {
    const { id, token } = (await create()).body;

    assert.equal((await api.send("DELETE", `${path}/${id}`)).status, 204);

    assert.equal((await api.send("DELETE", `${path}/${id}`)).status, 404);
    assert.equal((await api.send("GET", `${path}/${id}`)).status, 404);
    assert.equal(await findRegistrar(api.world.services, token), undefined);
    const [entry] = await listAuditEvents(api.world.services.db, { organizationId: api.acme.id }, 1);
    assert.deepEqual([entry?.event.action, entry?.event.subjectType], ["revoked", "agent_token"]);
  });
});
