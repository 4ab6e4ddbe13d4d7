import assert from "node:assert/strict";
import { before, it } from "node:test";
import { newId } from "../../shared/ids.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openTriggerApi } from "../helpers/trigger-api.ts";

describeWorld("GET …/triggers/{id}/deliveries, filtered", openTriggerApi, (api) => {
  let trigger: { id: string; path: string; endpoint_url: string };
  const named: Record<string, string> = {};

  before(async () => {
    await api.features({ webhook_filtering: true });
    const { slug } = await api.newPipeline();
    const filter = { expression: "webhook.payload.a == 1" };
    const made = await api.newTrigger({ type: "github", filter }, slug);
    trigger = { ...made, path: `${api.triggersAt(slug)}/${made.id}` };
    const send = async (name: string, event: string, a: number, headers = {}) => {
      const sent = { "X-GitHub-Event": event, "X-GitHub-Delivery": name, ...headers };
      named[name] = await api.deliver(made, JSON.stringify({ a }), sent);
    };
    await send("one", "push", 1);
    await send("two", "push", 2);
    await send("three", "release", 1, { "Idempotency-Key": "key-3" });
    await api.work(...Object.values(named));
    await send("four", "release", 1);
  });

  const list = (query: Record<string, string>) =>
    api.send("GET", `${trigger.path}/deliveries?${new URLSearchParams(query)}`);
  const found = async (query: Record<string, string>) => {
    const { status, body, text } = await list(query);
    assert.equal(status, 200, text);
    return body.items.map(({ id }: { id: string }) => Object.keys(named).find((name) => named[name] === id));
  };

  it("finds by status, event, the sender's id, an Idempotency-Key and time", async () => {
    assert.deepEqual(await found({ status: "build_created" }), ["three", "one"]);
    assert.deepEqual(await found({ status: "not_run" }), ["two"]);
    assert.deepEqual(await found({ status: "failed" }), []);
    assert.deepEqual(await found({ status: "waiting" }), ["four"]);
    assert.deepEqual(await found({ event: "push" }), ["two", "one"]);
    assert.deepEqual(await found({ event: "push", status: "build_created" }), ["one"]);
    assert.deepEqual(await found({ external_id: "three" }), ["three"]);
    assert.deepEqual(await found({ external_id: "key-3", event: "release" }), ["three"]);
    assert.deepEqual(await found({ external_id: "key-3", event: "push" }), []);
    assert.deepEqual(await found({ received_to: "2000-01-01" }), []);
    assert.deepEqual(await found({ received_from: "2000-01-01", event: "" }), [
      "four",
      "three",
      "two",
      "one",
    ]);
  });

  it("keeps the filters in its links", async () => {
    const { body } = await list({ event: "push", per_page: "1" });
    const next = new URL(body.links.next);
    assert.equal(next.searchParams.get("event"), "push");
    const second = await api.send("GET", `${trigger.path}/deliveries${next.search}`);
    assert.deepEqual(
      second.body.items.map(({ id }: { id: string }) => id),
      [named.one],
    );
    assert.equal(second.body.links.next, undefined);
  });

  it("answers 422 to unknown filters and wrong values, with the reason", async () => {
    for (const [query, reason] of [
      [{ state: "failed" }, "There is no filter state"],
      [{ status: "built" }, "status must be one of build_created, not_run, failed, waiting"],
      [{ received_from: "yesterday" }, "received_from must be a time such as 2026-01-31T00:00:00Z"],
      [{ event: "\0" }, "event must be text without NUL"],
    ] as const) {
      const { status, body } = await list(query as unknown as Record<string, string>);
      assert.deepEqual([status, body.message], [422, `Validation failed: ${reason}`]);
    }
    const twice = await api.send("GET", `${trigger.path}/deliveries?event=a&event=b`);
    assert.match(twice.body.message, /event can be given once only/);
  });

  it("asks for times rather than look at too many", async () => {
    const { services } = api.world;
    const early = new Date(services.clock.now().getTime() - 86_400_000);
    const insert = (count: number) =>
      services.db.transaction((tx) =>
        tx.insertMany(
          tx.tables.deliveries,
          Array.from({ length: count }, () => ({
            id: newId(early),
            triggerId: trigger.id,
            receivedAt: early,
            dueAt: early,
            contentType: "application/json",
            externalId: null,
            event: "common",
            size: 2,
            status: "build_created" as const,
            reason: null,
            organizationId: api.acme.id,
            isFiltered: false,
          })),
        ),
      );
    const refusal = /Add an earliest and a latest time/;
    const built = { status: "build_created", event: "push" };

    await insert(1000);
    await insert(1001);
    assert.equal((await list({ ...built, event: "common", per_page: "100" })).status, 200, "enough match");
    const tooMany = await list(built);
    assert.equal(tooMany.status, 503);
    assert.match(tooMany.body.message, refusal);
    assert.deepEqual(await found({ ...built, received_from: new Date(early.getTime() + 1).toISOString() }), [
      "one",
    ]);
    assert.deepEqual(
      await found({ event: "push" }),
      ["two", "one"],
      "an index alone is looked through further",
    );

    for (let more = 0; more < 8; more++) await insert(1000);
    assert.match((await list({ event: "push" })).body.message, refusal);
    assert.match((await list({ external_id: "one" })).body.message, refusal);
  });
});
