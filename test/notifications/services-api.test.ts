import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listAuditEvents } from "../../shared/accounts/audit-store.ts";
import { createOrganization } from "../../shared/accounts/organizations.ts";
import { sealedPlaces } from "../../shared/crypto/sealed-places.ts";
import { type Api, openApi, timestamp, unknownId } from "../helpers/api.ts";
import { describeWorld, type TestDatabase } from "../helpers/databases.ts";
import { addPerson } from "../helpers/organization.ts";

const list = "/services";
const hook = "https://example.com/hook";
const webhook = { provider: "webhook", settings: { url: hook } };
const slackAddress = "https://hooks.slack.com/services/T0/B0/hunter2";

const open = async (database: TestDatabase) => {
  const api = await openApi(database, { NOTIFICATION_SERVICES_PER_ORGANIZATION: "500" });
  return { ...api, ...api.world };
};

describeWorld("a notification service in REST", open, (api) => {
  const send = (method: string, path: string, body?: object) =>
    api.send(method, path, body === undefined ? {} : { body });
  const make = async (body: object = webhook) => {
    const answer = await send("POST", list, body);
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const change = (id: string, body: object) => send("PATCH", `${list}/${id}`, body);
  const messageOf = ({ body }: Awaited<ReturnType<Api["send"]>>) => body.message as string;

  it("is answered as documented", async () => {
    const made = await make({
      provider: "webhook",
      description: "Deploy notifications",
      settings: { url: hook, token: "xxx-yyy-zzz", events: ["build.finished"] },
      build_states: { build_failed: true },
    });

    const { id, created_at, created_by, ...rest } = made;
    assert.deepEqual(rest, {
      graphql_id: null,
      url: `https://api.example.com/v2/organizations/acme/services/${id}`,
      provider: { id: "webhook", name: "Webhook" },
      description: "Deploy notifications",
      enabled: true,
      scope: "all",
      scope_uuids: [],
      branch_configuration: "",
      build_states: {
        build_passed: false,
        build_fixed: false,
        build_failed: true,
        build_blocked: false,
        build_canceled: false,
        build_failing: false,
        job_activated: false,
      },
      settings: {
        url: hook,
        version: 3,
        token: "xxx-yyy-zzz",
        token_mode: "token",
        events: ["build.finished"],
        tls_verify: true,
      },
    });
    assert.match(created_at, timestamp);
    assert.equal(created_by.id, api.admin.id);
    assert.deepEqual((await send("GET", `${list}/${id}`)).body, made);
    const listed = (await send("GET", `${list}?per_page=100`)).body;
    assert.deepEqual(
      listed.items.find((each: { id: string }) => each.id === id),
      made,
    );
  });

  it("has defaults: all pipelines, states that ended, a token, events of builds", async () => {
    const made = await make();
    assert.deepEqual(made.description, "");
    const { build_passed, build_fixed, build_failed, ...others } = made.build_states;
    assert.deepEqual([build_passed, build_fixed, build_failed], [true, true, true]);
    assert.ok(Object.values(others).every((each) => each === false));
    assert.match(made.settings.token, /^sbns_[0-9A-Za-z]{49}$/);
    const events = ["ping", "build.scheduled", "build.running", "build.finished"];
    assert.deepEqual(made.settings.events, events);
    assert.equal(made.settings.token_mode, "token");
  });

  it("of a chat never shows its address, and keeps it encrypted", async () => {
    const made = await make({ provider: "slack", settings: { url: slackAddress, channel: " #builds " } });
    assert.deepEqual(made.settings, { theme: "text", channel: "#builds" });
    const { db, cipher } = api.world.services;
    const rows = await db.select().from(db.tables.notificationServices);
    const row = rows.find(({ id }) => id === made.id);
    assert.doesNotMatch(JSON.stringify(row), /hunter2/);
    assert.equal(cipher.open(row?.secretSealed ?? "", sealedPlaces.secretOfService(made.id)), slackAddress);

    const changed = await change(made.id, { settings: { theme: "emoji" } });
    assert.deepEqual(changed.body.settings, { theme: "emoji", channel: "#builds" });
    const answers = [made, changed.body, (await send("GET", `${list}?per_page=100`)).body];
    for (const answer of answers) assert.doesNotMatch(JSON.stringify(answer), /hunter2/);
    assert.ok(api.world.logged.every((line) => !line.includes("hunter2")));
    const other = "https://chat.example.com/hooks/trout";
    assert.equal((await change(made.id, { settings: { url: other } })).status, 200);
    const [after] = (await db.select().from(db.tables.notificationServices)).filter(
      ({ id }) => id === made.id,
    );
    assert.equal(cipher.open(after?.secretSealed ?? "", sealedPlaces.secretOfService(made.id)), other);
  });

  it("changes the given members, settings and states alone", async () => {
    const made = await make({ ...webhook, description: "One", build_states: { build_failed: true } });
    const changed = await change(made.id, {
      description: "Two",
      build_states: { build_fixed: true },
      settings: { token_mode: "signature" },
    });
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual(changed.body, {
      ...made,
      description: "Two",
      build_states: { ...made.build_states, build_fixed: true },
      settings: { ...made.settings, token_mode: "signature" },
    });
    assert.deepEqual((await change(made.id, {})).body, changed.body);
    // The members of an answer can be sent back.
    const { provider, description, scope, scope_uuids, branch_configuration, build_states, settings } =
      changed.body;
    const again = { description, scope, scope_uuids, branch_configuration, build_states, settings };
    assert.deepEqual((await change(made.id, { ...again, provider: provider.id })).body, changed.body);
    const token = (await change(made.id, { settings: { token: "other-token" } })).body.settings.token;
    assert.equal(token, "other-token");
  });

  it("is of some pipelines or clusters of its organization", async () => {
    const { id: pipeline } = await api.newPipeline();
    const { id: cluster } = await api.newCluster();
    const made = await make({
      ...webhook,
      scope: "some_projects",
      scope_uuids: [pipeline, pipeline.toUpperCase()],
    });
    assert.deepEqual([made.scope, made.scope_uuids], ["some_projects", [pipeline]]);
    const moved = await change(made.id, { scope: "some_clusters", scope_uuids: [cluster] });
    assert.deepEqual([moved.body.scope, moved.body.scope_uuids], ["some_clusters", [cluster]]);
    const all = await change(made.id, { scope: "all" });
    assert.deepEqual([all.body.scope, all.body.scope_uuids], ["all", []]);

    for (const [body, message] of [
      [{ scope: "some_projects" }, "Scope UUIDs can't be blank"],
      [{ scope: "some_clusters", scope_uuids: [] }, "Scope UUIDs can't be blank"],
      [
        { scope: "some_projects", scope_uuids: [cluster] },
        "Scope UUIDs must be ids of pipelines of the organization",
      ],
      [
        { scope: "some_clusters", scope_uuids: [pipeline] },
        "Scope UUIDs must be ids of clusters of the organization",
      ],
      [
        { scope: "some_projects", scope_uuids: [unknownId] },
        "Scope UUIDs must be ids of pipelines of the organization",
      ],
      [{ scope_uuids: [pipeline] }, "Scope UUIDs must be empty for the scope all"],
      [
        { scope: "some_teams", scope_uuids: [pipeline] },
        /Scope some_teams is not available: there are no teams/,
      ],
      [{ scope: "some" }, /Scope must be one of all some_projects some_clusters/],
      [{ scope_uuids: ["x"] }, /Scope UUIDs must be a list/],
      [{ scope_uuids: pipeline }, /Scope UUIDs must be a list/],
    ] as const)
      for (const answer of [await send("POST", list, { ...webhook, ...body }), await change(made.id, body)]) {
        assert.equal(answer.status, 422, answer.text);
        assert.match(messageOf(answer), message instanceof RegExp ? message : new RegExp(message));
      }
  });

  it("keeps a pipeline of its scope that was deleted", async () => {
    const { id, slug } = await api.newPipeline();
    const made = await make({ ...webhook, scope: "some_projects", scope_uuids: [id] });
    assert.equal((await send("DELETE", `/pipelines/${slug}`)).status, 204);
    assert.equal((await change(made.id, { scope: "some_projects", scope_uuids: [id] })).status, 200);
    assert.equal((await change(made.id, { description: "x" })).status, 200);
  });

  it("is enabled and disabled", async () => {
    const { id } = await make();
    for (const [verb, enabled] of [
      ["disable", false],
      ["disable", false],
      ["enable", true],
    ] as const) {
      const answer = await send("PUT", `${list}/${id}/${verb}`);
      assert.deepEqual([answer.status, answer.body.enabled, answer.body.id], [200, enabled, id]);
      assert.equal((await send("GET", `${list}/${id}`)).body.enabled, enabled);
      assert.equal((await send("PUT", `${list}/${unknownId}/${verb}`)).status, 404);
    }
  });

  it("refuses what a webhook cannot be", async () => {
    const { id } = await make();
    for (const [settings, message] of [
      [{ url: "example.com" }, /URL must be an address/],
      [{ url: "ftp://example.com" }, /URL must be an address/],
      [{ url: "https://ada:x@example.com" }, /URL must be an address/],
      [{ url: "http://a\nb" }, /URL must be an address/],
      [{ url: "" }, /URL can't be blank/],
      [{ url: 7 }, /URL must be text/],
      [{ url: hook, token: "two words" }, /Token must be one word/],
      [{ url: hook, token: "a\r\nX-Evil: 1" }, /Token must be one word/],
      [{ url: hook, token: 7 }, /Token must be text/],
      [{ url: hook, token_mode: "none" }, /Token mode must be token or signature/],
      [{ url: hook, version: 2 }, /Version must be 3/],
      [{ url: hook, events: ["build.exploded"] }, /Events must be a list of ping/],
      [{ url: hook, events: "ping" }, /Events must be a list/],
      [{ url: hook, tls_verify: "no" }, /TLS verify must be true or false/],
      [{ url: hook, theme: "text" }, /Settings has no/],
    ] as const)
      for (const answer of [
        await send("POST", list, { provider: "webhook", settings }),
        await change(id, { settings }),
      ]) {
        assert.equal(answer.status, 422, `${JSON.stringify(settings)} ${answer.text}`);
        assert.match(messageOf(answer), message);
      }
    assert.match(messageOf(await send("POST", list, { provider: "webhook" })), /URL can't be blank/);
    assert.match(messageOf(await send("POST", list, { provider: "slack" })), /URL can't be blank/);
  });

  it("refuses providers that are not here, and says why", async () => {
    for (const [provider, message] of [
      [undefined, /Provider can't be blank/],
      ["carrier_pigeon", /Provider must be one of webhook slack email/],
      ["open_telemetry_tracing", /open_telemetry_tracing is not available here: the operator/],
      ["aws_event_bridge", /aws_event_bridge is not available here/],
      ["datadog_pipeline_visibility", /is not available here/],
      ["event_log_api", /is not available here/],
      ["linear", /is not available here/],
      ["slack_workspace", /use slack, with the address of an incoming webhook/],
    ] as const) {
      const answer = await send("POST", list, {
        ...webhook,
        ...(provider ? { provider } : { provider: null }),
      });
      assert.equal(answer.status, 422);
      assert.match(messageOf(answer), message);
    }
    const { id } = await make();
    assert.match(messageOf(await change(id, { provider: "slack" })), /Provider cannot be changed/);
    const email = await send("POST", list, {
      provider: "email",
      settings: { addresses: ["ada@example.com"] },
    });
    assert.match(messageOf(email), /Provider email is not available: the operator sets SMTP_URL/);
  });

  it("refuses members that are unknown or read only, and names all problems at once", async () => {
    const { id } = await make();
    for (const given of [
      { enabled: false },
      { id: unknownId },
      { created_at: "2026-01-31T12:00:00Z" },
      { url: "https://example.com" },
      { unknown: 1 },
    ])
      for (const answer of [await send("POST", list, { ...webhook, ...given }), await change(id, given)]) {
        assert.equal(answer.status, 422, answer.text);
        assert.match(messageOf(answer), /Notification service has no/);
      }
    const answer = await send("POST", list, {
      provider: "webhook",
      description: 7,
      branch_configuration: "x".repeat(5000),
      build_states: { build_passed: "yes", build_exploded: true },
      settings: { url: "x" },
      scope: "some_projects",
    });
    for (const message of [
      /Description must be text/,
      /Branch configuration is too long/,
      /Build states must be true or false/,
      /URL must be an address/,
      /Scope UUIDs can't be blank/,
    ])
      assert.match(messageOf(answer), message);
  });

  it("is listed in pages by cursors, oldest first", async () => {
    for (let made = 0; made < 3; made++) await make();
    const all = (await send("GET", `${list}?per_page=100`)).body;
    const ids = all.items.map(({ id }: { id: string }) => id);
    assert.deepEqual(ids, ids.toSorted());
    assert.deepEqual(Object.keys(all.links), ["self"]);

    const seen: string[] = [];
    let links: Record<string, string> = { next: `${api.world.url}/v2/organizations/acme${list}?per_page=2` };
    let previous: Record<string, string> = {};
    while (links.next) {
      const page = await send("GET", links.next.replace(/^.*\/acme/, ""));
      previous = links;
      links = page.body.links;
      seen.push(...page.body.items.map(({ id }: { id: string }) => id));
      assert.equal("prev" in links, "prev" in previous || seen.length > 2);
    }
    assert.deepEqual(seen, ids);
    const back = await send("GET", (links.prev ?? "").replace(/^.*\/acme/, ""));
    const end = ids.length % 2 === 0 ? ids.slice(-4, -2) : ids.slice(-3, -1);
    assert.deepEqual(
      back.body.items.map(({ id }: { id: string }) => id),
      end,
    );
    assert.equal((await send("GET", `${list}?after=x`)).status, 400);
    assert.equal((await send("GET", `${list}?per_page=101`)).status, 400);
  });

  it("is audited without its secrets", async () => {
    const { id } = await make({ provider: "slack", description: "Chat", settings: { url: slackAddress } });
    await change(id, { description: "Room", settings: { url: `${slackAddress}2` } });
    await send("PUT", `${list}/${id}/disable`);
    await send("DELETE", `${list}/${id}`);
    const subjects = { types: ["notification_service"], ids: [id] } as never;
    const entries = await listAuditEvents(
      api.world.services.db,
      { organizationId: api.acme.id, subjects },
      10,
    );
    const told = entries.map(({ event }) => [event.action, event.changes]);
    assert.deepEqual(told, [
      ["deleted", null],
      ["updated", [{ field: "enabled", before: true, after: false }]],
      ["updated", [{ field: "description", before: "Chat", after: "Room" }, { field: "settings" }]],
      ["created", null],
    ]);
  });

  describe("of others", () => {
    it("is not found, changed or deleted", async () => {
      const { id } = await make();
      await createOrganization(api.world.services, { slug: "initech", name: "Initech" });
      const elsewhere = await addPerson(api.world, { slug: "initech" } as never, "admin");
      const scopes = ["read_notification_services", "write_notification_services"] as const;
      const token = await api.tokenOf(elsewhere, [...scopes], "initech");
      const at = (path: string, method = "GET") =>
        api.send(method, `/../initech${path}`, { token, ...(method === "PATCH" && { body: {} }) });
      assert.equal((await at(`${list}/${id}`)).status, 404);
      for (const [method, path] of [
        ["PATCH", ""],
        ["DELETE", ""],
        ["PUT", "/enable"],
        ["PUT", "/disable"],
      ] as const)
        assert.equal((await at(`${list}/${id}${path}`, method)).status, 404, `${method} ${path}`);
      assert.deepEqual((await at(list)).body.items, []);
      for (const unknown of [unknownId, "x"])
        for (const method of ["GET", "PATCH", "DELETE"])
          assert.equal(
            (await send(method, `${list}/${unknown}`, method === "PATCH" ? {} : undefined)).status,
            404,
          );
    });

    it("is for admins, with the scope", async () => {
      const member = await addPerson(api.world, api.acme, "member");
      const token = await api.tokenOf(member, ["read_notification_services"]);
      assert.equal((await api.send("GET", list, { token })).status, 403);
      const without = await api.tokenOf(api.admin, ["read_builds"]);
      assert.equal((await api.send("GET", list, { token: without })).status, 403);
      const reading = await api.tokenOf(api.admin, ["read_notification_services"]);
      assert.equal((await api.send("GET", list, { token: reading })).status, 200);
      assert.equal((await api.send("POST", list, { token: reading, body: webhook })).status, 403);
    });
  });
});
