import assert from "node:assert/strict";
import { before, it } from "node:test";
import { openApi, timestamp, unknownId } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { addPerson } from "../../helpers/organization.ts";

describeWorld("GET …/audit_events", openApi, (api) => {
  let token: string;
  before(async () => {
    token = await api.tokenOf(api.admin, ["read_audit_events"]);
  });

  const list = (query = "", caller = token) => api.send("GET", `/audit_events${query}`, { token: caller });

  it("lists who did what, and what an update changed", async () => {
    const { id, key } = await api.newQueue({ description: "Old" });
    await api.send("PUT", `${api.queues}/${id}`, { body: { description: null } });

    const { items } = (await list("?subject_type=queue&action=updated")).body;

    assert.match(items[0].occurred_at, timestamp);
    assert.deepEqual(items[0], {
      id: items[0].id,
      occurred_at: items[0].occurred_at,
      actor: { id: api.admin.id, name: api.admin.name },
      action: "updated",
      subject: { type: "queue", id, name: key },
      changes: [{ field: "description", before: "Old", after: null }],
    });
    const one = await api.send("GET", `/audit_events/${items[0].id}`, { token });
    assert.deepEqual(one.body, items[0]);
    for (const id of [unknownId, "x"])
      assert.equal((await api.send("GET", `/audit_events/${id}`, { token })).status, 404);
  });

  it("names secret members of an update, without values", async () => {
    const trigger = {
      type: "github",
      label: "Hook",
      verification: { strategy: "hmac", secret: "old-s3cret" },
    };
    const made = await api.send("POST", "/pipelines/web/triggers", { body: trigger });
    const changed = { label: "Renamed", verification: { secret: "new-s3cret" }, build: { branch: "dev" } };
    const patched = await api.send("PATCH", `/pipelines/web/triggers/${made.body.id}`, { body: changed });
    assert.equal(patched.status, 200, patched.text);

    const { text, body } = await list("?subject_name=Renamed");

    assert.deepEqual(body.items[0].changes, [
      { field: "label", before: "Hook", after: "Renamed" },
      { field: "branch", before: null, after: "dev" },
      { field: "secret" },
    ]);
    assert.doesNotMatch(text, /s3cret/);
  });

  it("is filtered and paged by its links, in both directions", async () => {
    for (let made = 0; made < 3; made++) await api.newCluster();
    const first = (await list(`?subject_type=cluster&actor_id=${api.admin.id}&per_page=2`)).body;
    const follow = (link: string) => list(new URL(link).search);

    const second = (await follow(first.links.next)).body;
    const again = (await follow(second.links.prev)).body;

    assert.equal(first.items.length, 2);
    assert.ok(first.items[1].id > second.items[0].id);
    assert.deepEqual(again.items, first.items);
    assert.deepEqual((await list("?to=2001-01-01")).body.items, []);
    assert.deepEqual((await list(`?actor_id=${api.acme.cluster.id}`)).body.items, []);
  });

  it("refuses unknown filters, other roles and other scopes", async () => {
    const member = await api.tokenOf(await addPerson(api.world, api.acme), ["read_audit_events"]);

    const unknown = await list("?subject=x&actor_id=me&subject_type=house");

    assert.equal(unknown.status, 422);
    assert.match(
      unknown.body.message,
      /no filter subject.*actor_id must be an id.*subject_type must be one of/s,
    );
    assert.equal((await list("", member)).status, 403);
    assert.equal((await list("", api.adminToken)).status, 403);
  });
});
