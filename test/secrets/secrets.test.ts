import assert from "node:assert/strict";
import { before, it } from "node:test";
import { listAuditEvents } from "../../shared/accounts/audit-store.ts";
import { base, graphqlId, openApi, timestamp, unique, webBase } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("…/clusters/:id/secrets", openApi, (api) => {
  let path: string;
  before(async () => {
    path = `/clusters/${api.acme.cluster.id}/secrets`;
  });

  const create = (body: object = {}) =>
    api.send("POST", path, {
      body: { key: unique("KEY").replace("-", "_"), value: "hunter2-value", ...body },
    });
  const refusal = async (body: object) => {
    const { status, body: answer } = await create(body);
    return [status, answer.message];
  };
  const rowOf = async (id: string) => {
    const { db } = api.world.services;
    return (await db.select().from(db.tables.secrets)).find((row) => row.id === id);
  };

  it("creates a secret, and shows its value in no answer", async () => {
    const policy = "- pipeline_slug: web\n";
    const created = await create({ key: "DEPLOY_KEY", value: "swordfish", description: "To deploy", policy });

    const { created_by, updated_by, ...rest } = created.body;
    assert.equal(created.status, 201);
    assert.match(rest.created_at, timestamp);
    assert.deepEqual([created_by.id, updated_by.id], [api.admin.id, api.admin.id]);
    assert.partialDeepStrictEqual(rest, {
      id: rest.id,
      graphql_id: graphqlId("Secret", rest.id),
      key: "DEPLOY_KEY",
      description: "To deploy",
      policy,
      url: `${base}${path}/${rest.id}`,
      cluster_url: `${base}/clusters/${api.acme.cluster.id}`,
      created_at: rest.created_at,
      updated_at: rest.created_at,
      last_read_at: null,
      organization: { id: api.acme.id, slug: "acme", url: base, web_url: webBase },
    });
    const shown = [created, await api.send("GET", `${path}/${rest.id}`), await api.send("GET", path)];
    for (const { text } of shown) assert.doesNotMatch(text, /swordfish|v2\./);
    assert.match((await rowOf(rest.id))?.valueSealed ?? "", /^v2\./);
    assert.doesNotMatch(api.world.logged.join(""), /swordfish/);
  });

  it("changes the description and the policy, and keeps what is absent", async () => {
    const { id } = (await create({ description: "Old", policy: "- pipeline_slug: web" })).body;
    const at = `${path}/${id}`;
    const sealed = (await rowOf(id))?.valueSealed;

    const one = await api.send("PUT", at, { body: { description: "New", value: "other", key: "OTHER" } });
    const two = await api.send("PATCH", at, { body: { policy: "" } });

    assert.deepEqual(
      [one.status, one.body.description, one.body.policy],
      [200, "New", "- pipeline_slug: web"],
    );
    assert.deepEqual([two.body.description, two.body.policy], ["New", null]);
    assert.equal((await rowOf(id))?.valueSealed, sealed);
    assert.equal((await api.send("PUT", at, { body: { policy: "x" } })).status, 422);
  });

  it("replaces the value, and deletes", async () => {
    const { id } = (await create()).body;
    const sealed = (await rowOf(id))?.valueSealed;

    const replaced = await api.send("PUT", `${path}/${id}/value`, { body: { value: "next" } });

    assert.equal(replaced.status, 200);
    assert.equal(replaced.body.id, id);
    assert.doesNotMatch(replaced.text, /next"/);
    assert.notEqual((await rowOf(id))?.valueSealed, sealed);
    assert.equal((await api.send("PUT", `${path}/${id}/value`, { body: {} })).status, 422);
    assert.equal((await api.send("DELETE", `${path}/${id}`)).status, 204);
    for (const method of ["GET", "DELETE"])
      assert.deepEqual((await api.send(method, `${path}/${id}`)).body, { message: "No secret found" });
    assert.equal(await rowOf(id), undefined);
  });

  it("refuses keys that no step could use, and keys that are taken in any case", async () => {
    await create({ key: "Taken" });
    const characters =
      "Validation failed: Key can only contain letters, numbers and underscores, and must start with a letter";
    const reserved = "Validation failed: Key cannot start with BUILDKITE, BK, SIGNALBOX";

    assert.deepEqual(await refusal({ key: "TAKEN" }), [422, "Validation failed: Key has already been taken"]);
    assert.deepEqual(await refusal({ key: "" }), [422, "Validation failed: Key can't be blank"]);
    for (const key of ["1A", "A-B", "A B", "_A", "Ä", "A\n", "<b>"])
      assert.deepEqual(await refusal({ key }), [422, characters], key);
    for (const key of ["bk_token", "BUILDKITE_X", "Buildkite", "SIGNALBOX_X"])
      assert.deepEqual(await refusal({ key }), [422, reserved], key);
  });

  it("refuses values and policies that are too large, and repeats neither", async () => {
    const large = "é".repeat(33_000);
    assert.deepEqual(await refusal({ value: large }), [422, "Validation failed: Value is larger than 64 KB"]);
    assert.deepEqual(await refusal({ value: "secret\0x" }), [
      422,
      "Validation failed: Value must be text without NUL",
    ]);
    assert.deepEqual(await refusal({ policy: "a: b" }), [
      422,
      "Validation failed: Policy: line 1, column 1: must be a list of rules",
    ]);
    assert.deepEqual(await refusal({ policy: `- pipeline_slug: ${"x".repeat(4100)}` }), [
      422,
      "Validation failed: Policy is larger than 4 KB",
    ]);
  });

  it("creates one of many with the same key at once", async () => {
    const answers = await Promise.all(["Once", "ONCE", "once", "OnCe"].map((key) => create({ key })));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 422, 422, 422]);
  });

  it("goes with its cluster", async () => {
    const cluster = await api.newCluster();
    const at = `/clusters/${cluster.id}/secrets`;
    const { id } = (await api.send("POST", at, { body: { key: "GONE", value: "x" } })).body;

    assert.equal((await api.send("DELETE", `/clusters/${cluster.id}`)).status, 204);

    assert.equal((await api.send("GET", at)).status, 404);
    assert.equal(await rowOf(id), undefined);
  });

  it("is audited without its value or the text of its policy", async () => {
    const { id } = (await create({ key: "AUDITED", value: "swordfish" })).body;
    await api.send("PUT", `${path}/${id}`, { body: { description: "d", policy: "- pipeline_slug: web" } });
    await api.send("PUT", `${path}/${id}/value`, { body: { value: "swordfish2" } });
    await api.send("DELETE", `${path}/${id}`);

    const { db } = api.world.services;
    const filter = { organizationId: api.acme.id, subjects: { types: ["secret"], ids: [id] } };
    const entries = await listAuditEvents(db, filter as never, 10);
    assert.deepEqual(entries.map(({ event }) => [event.action, event.subject, event.changes]).reverse(), [
      ["created", "AUDITED", null],
      ["updated", "AUDITED", [{ field: "description", before: null, after: "d" }, { field: "policy" }]],
      ["updated", "AUDITED", [{ field: "value" }]],
      ["deleted", "AUDITED", null],
    ]);
  });
});
