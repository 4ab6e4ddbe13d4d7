import assert from "node:assert/strict";
import { it } from "node:test";
import type { Tables } from "../../shared/db/schema.ts";
import { newId } from "../../shared/ids.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openResources } from "../members/open-resources.ts";

const list = "/organizations/acme/services";

describeWorld("pages of notification services", openResources, (pages) => {
  const form = (more: Record<string, string> = {}) => ({
    provider: "webhook",
    description: "Deployments",
    url: "https://example.com/hook",
    token: "correct-horse",
    token_mode: "signature",
    tls_verify: "1",
    event: "build.finished",
    scope: "all",
    branch_configuration: "main",
    ...more,
  });
  const make = async (more: Record<string, string> = {}) => {
    const made = await pages.asAda.post(`${list}/new`, form(more));
    assert.equal(made.status, 303, made.text);
    return new URL(made.headers.get("location") ?? "", "http://x").pathname;
  };
  const rowOf = async (path: string) => {
    const { db } = pages.services;
    const id = path.split("/").at(-1);
    const rows = await db.select().from(db.tables.notificationServices);
    return rows.find((row) => row.id === id) ?? assert.fail();
  };

  const insert = (...rows: Tables["outbox"]["$inferInsert"][]) =>
    pages.services.db.transaction((tx) => tx.insert(tx.tables.outbox).values(rows));

  it("offer the providers, then the form of one", async () => {
    const offered = await pages.asAda.get(`${list}/new`);
    assert.match(offered.text, /provider=webhook/);
    assert.match(offered.text, /provider=slack/);
    assert.match(offered.text, /The operator has not set SMTP_URL yet/);
    assert.match((await pages.asAda.get(`${list}/new?provider=slack`)).text, /hooks\.slack\.com/);
    assert.equal((await pages.asAda.post(`${list}/new`, {})).status, 200);
  });

  it("create, show, change, switch and delete a webhook", async () => {
    const path = await make();
    const made = await rowOf(path);
    assert.deepEqual(made.settings, {
      url: "https://example.com/hook",
      token_mode: "signature",
      version: 3,
      events: ["build.finished"],
      tls_verify: true,
    });
    assert.equal(made.branchConfiguration, "main");
    assert.match((await pages.asAda.get(list)).text, /Deployments[\s\S]*example\.com/);
    assert.doesNotMatch((await pages.asAda.get(list)).text, /correct-horse/);
    assert.match((await pages.asAda.get(path)).text, /value="correct-horse"/);

    const changed = form({
      token: "",
      description: "Others",
      event: "job.started",
      branch_configuration: "",
    });
    const { tls_verify: _, ...unchecked } = changed;
    assert.equal((await pages.asAda.post(path, unchecked)).status, 303);
    const after = await rowOf(path);
    assert.partialDeepStrictEqual(after, {
      description: "Others",
      branchConfiguration: null,
      secretSealed: made.secretSealed,
      settings: { events: ["job.started"], tls_verify: false },
    });
    assert.equal((await pages.asAda.post(`${path}/switch`, { enabled: "" })).status, 303);
    assert.equal((await rowOf(path)).enabled, false);
    assert.match((await pages.asAda.get(path)).text, /It is disabled/);
    assert.equal((await pages.asAda.post(`${path}/switch`, { enabled: "1" })).status, 303);
    assert.equal((await rowOf(path)).enabled, true);
    assert.equal((await pages.asAda.post(`${path}/delete`, {})).status, 303);
    assert.equal((await pages.asAda.get(path)).status, 404);
  });

  it("choose pipelines by their slugs, and clusters", async () => {
    const path = await make({ scope: "some_projects", pipelines: " web\nweb " });
    assert.deepEqual((await rowOf(path)).scopeIds, [pages.acme.pipeline.id]);
    assert.match((await pages.asAda.get(path)).text, />web<\/textarea>/);
    const cluster = pages.acme.cluster.id;
    const moved = form({ scope: "some_clusters", cluster, token: "" });
    assert.equal((await pages.asAda.post(path, moved)).status, 303);
    assert.deepEqual([(await rowOf(path)).scope, (await rowOf(path)).scopeIds], ["some_clusters", [cluster]]);
    const unknown = await pages.asAda.post(
      `${list}/new`,
      form({ scope: "some_projects", pipelines: "web nope" }),
    );
    assert.equal(unknown.status, 422);
    assert.match(unknown.text, /field-pipelines-problem">There is no pipeline nope/);
  });

  it("keep what was typed when a form is refused, and mark its fields", async () => {
    const wrong = form({
      url: "ftp://example.com",
      description: "<script>alert(1)</script>",
      token: "two words",
    });
    const { status, text } = await pages.asAda.post(`${list}/new`, wrong);
    assert.equal(status, 422);
    assert.match(text, /field-url-problem">URL must be an address/);
    assert.match(text, /field-token-problem">Token must be one word/);
    assert.doesNotMatch(text, /<script>alert/);
    assert.match(text, /&lt;script>alert\(1\)/);
    assert.match(text, /value="ftp:\/\/example\.com"/);
  });

  it("never show the address of a chat, and keep it when the field stays empty", async () => {
    const chat = {
      provider: "slack",
      url: "https://chat.example.com/hooks/hunter2",
      theme: "emoji",
      scope: "all",
    };
    const made = await pages.asAda.post(`${list}/new`, {
      ...chat,
      state: "build_failed",
      channel: "#builds",
    });
    const path = new URL(made.headers.get("location") ?? "", "http://x").pathname;
    const before = await rowOf(path);
    assert.deepEqual(
      [before.buildStates, before.settings],
      [["build_failed"], { theme: "emoji", channel: "#builds" }],
    );
    for (const page of [path, list]) {
      const { text } = await pages.asAda.get(page);
      assert.doesNotMatch(text, /hunter2/);
      assert.match(text, /chat\.example\.com|#builds/);
    }
    const saved = await pages.asAda.post(path, { ...chat, url: "", theme: "text", channel: "" });
    assert.equal(saved.status, 303);
    const after = await rowOf(path);
    assert.equal(after.secretSealed, before.secretSealed);
    assert.deepEqual([after.buildStates, after.settings], [[], { theme: "text", channel: null }]);
  });

  it("say that a receiver is inside, and which setting opens it", async () => {
    const path = await make({ url: "http://10.0.0.7:8080/hook" });
    const { text } = await pages.asAda.get(path);
    assert.match(text, /10\.0\.0\.7 has no public address.*OUTBOUND_ALLOWED_NETWORKS/);
  });

  it("show the last requests with their answers, and send one again", async () => {
    const path = await make({ event: "job.started" });
    const service = await rowOf(path);
    const { db, clock } = pages.services;
    const now = clock.now();
    const id = newId(now);
    const common = {
      organizationId: service.organizationId,
      kind: "service" as const,
      serviceId: service.id,
    };
    const request = {
      method: "POST",
      host: "example.com",
      bytes: 20,
      body: '{"event":"job.started","x":"<b>"}',
    };
    await insert({
      ...common,
      ...{
        id,
        receiver: `service:${service.id}`,
        event: "job.started",
        jobId: newId(now),
        state: "failed",
        tries: 3,
      },
      ...{
        answerStatus: 404,
        answer: "<i>no such room</i>",
        durationMs: 1234,
        request,
        dueAt: now,
        createdAt: now,
      },
      endedAt: now,
    });
    const { text } = await pages.asAda.get(path);
    assert.match(text, /job\.started<\/code>[\s\S]*failed after 3 tries: answered 404/);
    assert.match(text, /It has failed for/);
    assert.match(text, /class="state failing"/);
    assert.doesNotMatch(text, /class="state enabled"/);
    assert.match(text, /It answered 404/);
    assert.doesNotMatch(text, /no such room/);
    assert.match((await pages.asAda.get(list)).text, /It has failed for .*class="state failing"/s);
    const shown = await pages.asAda.get(`${path}?request=${id}`);
    assert.match(shown.text, /&lt;i>no such room/);
    assert.match(shown.text, /POST to example\.com, 20 bytes/);
    assert.match(shown.text, /&quot;x&quot;:&quot;&lt;b>/);

    assert.equal((await pages.asAda.post(`${path}/requests/${id}`, {})).status, 303);
    const rows = (await db.select().from(db.tables.outbox)).filter((row) => row.serviceId === service.id);
    const again = rows.find((row) => row.id !== id) ?? assert.fail();
    assert.partialDeepStrictEqual(again, { state: "waiting", event: "job.started", tries: 0 });
    assert.equal(again.jobId, rows.find((row) => row.id === id)?.jobId);
    assert.equal((await pages.asAda.post(`${path}/requests/${newId(now)}`, {})).status, 404);
    const other = await make();
    assert.equal((await pages.asAda.post(`${other}/requests/${id}`, {})).status, 404);
  });

  it("show what was sent of a build, to whom, with which answer", async () => {
    const path = await make({ description: "Room", event: "job.started" });
    const service = await rowOf(path);
    const { clock } = pages.services;
    const build = (
      await pages.send("POST", "/pipelines/web/builds", { commit: "HEAD", branch: "main", message: "m" })
    ).body;
    const at = `/organizations/acme/pipelines/web/builds/${build.number}`;
    assert.doesNotMatch((await pages.asAda.get(at)).text, /id="sent"/);
    const now = clock.now();
    const common = { organizationId: service.organizationId, buildId: build.id, dueAt: now, createdAt: now };
    await insert(
      {
        ...common,
        ...{ id: newId(now), kind: "service", receiver: `service:${service.id}`, serviceId: service.id },
        ...{ event: "build.finished", state: "sent", answerStatus: 204, durationMs: 80, endedAt: now },
      },
      {
        ...common,
        ...{ id: newId(now), kind: "notify", receiver: "notify:x", event: "build.finished", state: "failed" },
        ...{ tries: 1, answer: "example.com could not be reached", target: { address: "https://x/hunter2" } },
      },
    );
    const { text } = await pages.asAda.get(at);
    assert.match(text, /Sent: 2 messages, of which 1 failed/);
    assert.match(text, new RegExp(`href="${path}">Room</a>, build.finished[\\s\\S]*answered 204 in 80 ms`));
    assert.match(
      text,
      /Notice of the pipeline[\s\S]*failed after one try: example\.com could not be reached/,
    );
    assert.doesNotMatch(text, /hunter2/);
    const asMember = (await pages.asBob.get(at)).text;
    assert.match(asMember, /Room, build\.finished/);
    assert.doesNotMatch(asMember, new RegExp(path));
  });

  it("are for admins", async () => {
    const path = await make();
    for (const at of [list, `${list}/new`, path, `${path}/delete`])
      assert.equal((await pages.asBob.get(at)).status, 403, at);
    for (const at of [`${list}/new`, path, `${path}/switch`, `${path}/delete`, `${path}/requests/x`])
      assert.equal((await pages.asBob.post(at, form())).status, 403, at);
    const other = path.replace("/acme/", "/globex/");
    assert.equal((await pages.asAda.get(other)).status, 404);
  });
});
