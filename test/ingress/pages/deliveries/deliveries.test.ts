import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, it } from "node:test";
import { csrfTokenIn } from "../../../../scripts/scratch/visitor.ts";
import { updateOrganization } from "../../../../shared/accounts/organizations.ts";
import { insertUser } from "../../../../shared/accounts/user-store.ts";
import { newId } from "../../../../shared/ids.ts";
import { archivePipeline, unarchivePipeline } from "../../../../shared/pipelines/archive.ts";
import { deletePayloads } from "../../../../shared/triggers/payloads/store.ts";
import { allBuilds, buildWebhook, countBuilds, decideDue } from "../../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { eventually, post } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { read } from "../triggers/trigger-pages.ts";

const pipeline = "/organizations/acme/pipelines/web";
const triggerPath = (id: string) => `${pipeline}/triggers/${id}`;
const hidden = (html: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? "";

describeWorldOn(sqlite, "the pages of deliveries", startQueuePages, (pages) => {
  before(async () => {
    await updateOrganization(pages.services, "acme", { features: { webhook_filtering: true } });
  });

  const trigger = async (input: Parameters<typeof pages.acme.trigger>[0] = {}) => {
    const made = await pages.acme.trigger({ type: "github", label: "Hook", ...input });
    return { ...made, at: triggerPath(made.id) };
  };
  const send = async (path: string, payload: string, headers: Record<string, string> = {}) => {
    const answer = await post(pages.url + path, payload, {
      "X-GitHub-Event": "push",
      "X-GitHub-Delivery": "d-1",
      ...headers,
    });
    assert.equal(answer.status, 201, answer.text);
    return answer.body.id as string;
  };

  it("list a trigger's deliveries by page, with the build or the reason for none", async () => {
    const { path, at } = await trigger({ filter: "webhook.payload.run == true" });
    const ids: string[] = [];
    for (let n = 0; n < 23; n++) ids.push(await send(path, JSON.stringify({ run: n % 2 === 0, n })));
    await decideDue(pages.services);
    const bob = await pages.visitor(pages.bob);

    const first = (await bob.get(at)).text;
    assert.match(first, /built/);
    assert.match(first, /the filter left it out/);
    assert.match(first, /d-1/);
    const shownIn = (html: string) => ids.filter((id) => html.includes(`${at}/deliveries/${id}"`));
    assert.deepEqual(shownIn(first), ids.slice(3));
    const older = /href="([^"]*\?after=[^"]*)"/.exec(first)?.[1] ?? "";
    const second = (await bob.get(older)).text;
    assert.deepEqual(shownIn(second), ids.slice(0, 3));
    const newer = /href="([^"]*\?before=[^"]*)"/.exec(second)?.[1] ?? "";
    assert.deepEqual(shownIn((await bob.get(newer)).text), ids.slice(3));
  });

  it("show a delivery's request, with the values of harmless headers only", async () => {
    const { path, at } = await trigger({ secret: null });
    const answer = await post(pages.url + path, '{"big":12345678901234567890}', {
      "X-GitHub-Event": "push",
      "X-GitHub-Delivery": "72d3162e",
      "X-Custom": "not for everybody",
    });
    const bob = await pages.visitor(pages.bob);

    const shown = (await bob.get(`${at}/deliveries/${answer.body.id}`)).text;

    assert.match(shown, /12345678901234567890/);
    assert.match(shown, /72d3162e/);
    assert.match(shown, /X-Custom/);
    assert.doesNotMatch(shown, /not for everybody/);
    assert.match(shown, /in process/);
    const file = await bob.get(`${at}/deliveries/${answer.body.id}/payload`);
    assert.equal(file.text, '{"big":12345678901234567890}');
    assert.match(file.headers.get("content-disposition") ?? "", /^attachment/);
  });

  it("rebuild once when a form is sent twice", async () => {
    const { path, at } = await trigger();
    const build = await buildWebhook(pages, path, '{"a":1}');
    const bob = await pages.visitor(pages.bob);
    const delivery = `${at}/deliveries/${build.deliveryId}`;
    const { text } = await bob.get(delivery);
    const form = { rebuild: hidden(text, "rebuild"), csrf_token: csrfTokenIn(text) ?? "" };
    const before = await countBuilds(pages);

    const answers = await Promise.all([1, 2, 3].map(() => bob.post(`${delivery}/rebuild`, form)));

    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get("location")]),
      answers.map(() => [303, `${pipeline}/builds/${build.number + 1}`]),
    );
    assert.equal(await countBuilds(pages), before + 1);
    const again = (await allBuilds(pages)).at(-1);
    assert.deepEqual([again?.deliveryId, again?.creatorId], [build.deliveryId, pages.bob.id]);
    assert.match((await bob.get(`${pipeline}/builds/${build.number + 1}`)).text, new RegExp(delivery));
  });

  it("report an evicted request, and do not rebuild it", async () => {
    const { path, at } = await trigger();
    const build = await buildWebhook(pages, path, "{}");
    const bob = await pages.visitor(pages.bob);
    const delivery = `${at}/deliveries/${build.deliveryId}`;
    const { text } = await bob.get(delivery);
    await pages.services.db.transaction((tx) => deletePayloads(tx, [build.deliveryId ?? ""]));

    const refused = await bob.post(`${delivery}/rebuild`, { rebuild: hidden(text, "rebuild") });

    assert.equal(refused.status, 422);
    assert.match(refused.text, /The payload of this delivery is no longer kept\./);
    assert.match((await bob.get(delivery)).text, /Its request is no longer kept/);
    assert.equal((await bob.get(`${delivery}/payload`)).status, 404);
  });

  it("count refusals by cause, with advice", async () => {
    const { path, at } = await trigger({ secret: "a secret of ours" });
    const wrong = { "X-Hub-Signature-256": `sha256=${"0".repeat(64)}` };
    for (let times = 0; times < 3; times++)
      assert.equal((await post(pages.url + path, "{}", wrong)).status, 401);
    assert.equal((await post(pages.url + path, "a=b", { "content-type": "text/plain" })).status, 415);
    const { db } = pages.services;
    const { refusedDeliveries } = db.tables;
    // They are stored every few seconds.
    await eventually("the counts", async () => (await db.select().from(refusedDeliveries)).length === 2);

    const shown = (await (await pages.visitor(pages.bob)).get(at)).text;

    assert.match(shown, /Signature wrong or missing.*?<td class="number"[^>]*>3<\/td>/s);
    assert.match(shown, /Not sent as JSON.*?<td class="number"[^>]*>1<\/td>/s);
  });

  it("send a test delivery through the usual checks", async () => {
    const { at, id } = await trigger({ secret: "a secret of ours" });
    const bob = await pages.visitor(pages.bob);
    const form = (await bob.get(`${at}/send`)).text;
    assert.match(form, /refs\/heads\/main/);
    assert.match(form, /<input[^>]*name="event"[^>]*maxlength="255"/i);

    const sent = await bob.post(`${at}/send`, { event: "release", payload: '{"tag":"v1"}' });

    assert.equal(sent.status, 303);
    const delivery = (await bob.get(sent.headers.get("location") ?? "")).text;
    assert.match(delivery, /release/);
    assert.match(delivery, /X-Hub-Signature-256.*?not shown/s);
    const broken = await bob.post(`${at}/send`, { payload: "{" });
    assert.equal(broken.status, 400);
    assert.match(broken.text, /Payload is not valid JSON\./);
    for (const event of [randomBytes(9000).toString("base64"), "pu\nsh", "プッシュ"]) {
      const refused = await bob.post(`${at}/send`, { event, payload: "{}" });
      assert.equal(refused.status, 422, refused.text);
      assert.match(refused.text, /Event must be 1 to 255 characters that a header can hold\./);
    }
    const { db } = pages.services;
    const { deliveries } = db.tables;
    const kept = (await db.select().from(deliveries)).filter(({ triggerId }) => triggerId === id);
    assert.equal(kept.length, 1);
  });

  it("try a filter on a delivery before it is saved", async () => {
    const { path, at } = await trigger();
    const delivery = await send(path, '{"ref":"refs/heads/main"}');
    const bob = await pages.visitor(pages.bob);
    const attempt = (expression: string, action = "try") =>
      bob.post(`${at}/filter`, { expression, delivery, action });

    assert.match(
      (await attempt('webhook.payload.ref == "refs/heads/main"')).text,
      /True: this delivery would make a build/,
    );
    assert.match(
      (await attempt('webhook.payload.ref == "no"')).text,
      /False: this delivery would make no build/,
    );
    await send(path, '{"ref":"refs/heads/other"}');
    const both = (await attempt('webhook.payload.ref == "refs/heads/main"')).text;
    assert.match(both, /1 of the latest 2 would make a build/);
    assert.match(both, /<span class="state not_run">.*>false<.*<span class="state build_created">.*>true</s);
    assert.match((await attempt("webhook.payload.missing == 1")).text, /class="state failed">.*>error</s);
    assert.match((await attempt("webhook.payload.missing == 1")).text, /No build: /);
    assert.match((await attempt("webhook.")).text, /No build: /);
    const unsaved = await attempt("webhook.", "save");
    assert.equal(unsaved.status, 422);
    assert.match(unsaved.text, /role="alert"/);
    const saved = await attempt('webhook.payload.ref == "x"', "save");
    assert.equal(saved.headers.get("location"), `${at}?notice=trigger_saved`);
    const shown = (await bob.get(at)).text;
    assert.match(shown, /webhook\.payload\.ref == /);
    assert.ok(shown.includes(`href="${at}/filter">Try a filter`));
    assert.equal((await attempt("", "save")).status, 303);
    assert.doesNotMatch((await bob.get(`${at}/filter`)).text, /webhook\.payload\.ref == (&quot;|")x/);
  });

  it("show the filter that left a delivery out, offer to build it unless the pipeline is archived, and say who did", async () => {
    const { path, at } = await trigger({ filter: 'webhook.payload.ref == "x"' });
    const delivery = await send(path, '{"ref":"y"}');
    await decideDue(pages.services);
    const show = async () => (await pages.asBob.get(`${at}/deliveries/${delivery}`)).text;

    const text = await show();

    assert.match(text, /Why no build<\/dt><dd>the filter left it out/);
    assert.match(
      text,
      new RegExp(
        `Present filter<.*?<a href="${at}/filter\\?delivery=${delivery}"><code>webhook\\.payload\\.ref`,
      ),
    );
    assert.match(text, /<dl class="read-values">.*?payload\.ref<.*?&quot;y&quot;</s);
    assert.match(text, />Build it</);
    assert.doesNotMatch(text, /It would be built now/);
    const bob = await pages.visitor(pages.bob);
    for (const expression of ['webhook.payload.ref == "y"', ""]) {
      await bob.post(`${at}/filter`, { expression, action: "save" });
      assert.match(await show(), /It would be built now/, expression);
    }
    await archivePipeline(pages.services, pages.actor, pages.acme.pipeline);
    assert.doesNotMatch(await show(), />Build it<|It would be built now/);
    await unarchivePipeline(pages.services, pages.actor, pages.acme.pipeline);

    const state = /<h1>Delivery <span class="state (\w+)">.*?<\/svg>([^<]*)</s;
    assert.deepEqual(state.exec(await show())?.slice(1), ["not_run", "not run"]);
    await pages.asBob.post(`${at}/deliveries/${delivery}/rebuild`, { rebuild: "1" });
    assert.deepEqual(state.exec(await show())?.slice(1), ["build_created", "built by hand"]);
    assert.match(await show(), /Why not at once<\/dt><dd>the filter left it out/);
    const list = async () => read(await pages.asBob.get(at));
    assert.match(await list(), /built by hand<.*>not at once: the filter left it out<.*only-on-desk/s);
    await send(path, '{"ref":"x"}');
    await decideDue(pages.services);
    const [, newest = ""] = /class="delivery">(.*?)<\/tr>/s.exec(await list()) ?? [];
    assert.match(newest, />built</);
    assert.doesNotMatch(newest, /not at once/);
  });

  it("show why a filter is false, fill it by a click, and warn of a character class", async () => {
    const { path, at } = await trigger();
    const body = '{"ref":"refs/heads/main","commits":[{"added":["a<b"]}],"in":1}';
    const delivery = await send(path, body, { Cookie: "session=secret", "X-Custom": "not for everybody" });
    const bob = await pages.visitor(pages.bob);

    const expression =
      'webhook.payload.ref == "x" || has(webhook.headers.HTTP_COOKIE) && has(webhook.payload.gone)';
    const { text } = await bob.post(`${at}/filter`, { expression, delivery, action: "try" });
    const values = /False: this delivery would make no build. It has:(.*?)<\/dl>/s.exec(text)?.[1] ?? "";
    assert.match(values, /payload\.ref<.*?refs\/heads\/main/s);
    assert.match(values, /HTTP_COOKIE<.*?(is there, but not shown|is missing)/s);
    assert.match(values, /payload\.gone<.*?is missing/s);
    assert.doesNotMatch(text, /session=secret/);
    assert.match(text, /<option[^>]*>push, 20/);
    for (const header of ["webhook .headers.HTTP_X_CUSTOM", '(webhook).headers["HTTP_X_CUSTOM"]']) {
      const form = { expression: `${header} == "x"`, delivery, action: "try" };
      const tried = (await bob.post(`${at}/filter`, form)).text;
      assert.match(tried, /<dl class="read-values">.*?HTTP_X_CUSTOM.*?is there, but not shown/s);
      assert.doesNotMatch(tried, /not for everybody/);
    }

    const page = (await bob.get(`${at}/filter`)).text;
    const hrefs = [...page.matchAll(/<a href="([^"]*)" data-fills="field-expression" data-joins="/g)].map(
      ([, href = ""]) => new URL(href.replaceAll("&amp;", "&"), "http://localhost"),
    );
    const fills = hrefs.map(({ searchParams }) => searchParams.get("expression"));
    assert.ok(fills.includes('webhook.payload.ref == "refs/heads/main"'), String(fills));
    assert.ok(fills.includes('webhook.payload.commits[0].added[0] == "a<b"'));
    assert.ok(fills.includes('webhook.payload["in"] == 1'));
    for (const fill of fills) {
      const tried = await bob.post(`${at}/filter`, { expression: fill ?? "", delivery, action: "try" });
      assert.match(tried.text, /True: this delivery would make a build/, fill ?? "");
    }
    const [first = assert.fail()] = hrefs;
    const filled = (await bob.get(first.pathname + first.search)).text;
    assert.match(filled, /<textarea[^>]*name="expression"[^>]*>webhook\.[^<]/);

    const attempt = async (filter: string, action = "try") =>
      read(await bob.post(`${at}/filter`, { expression: filter, delivery, action }));
    const warning =
      '[skip] matches one of the letters s, k, i and p. To find the text, write contains("[skip]").';
    for (const matches of ['webhook.payload.ref.matches("[skip]")', 'matches(webhook.payload.ref, "[skip]")'])
      assert.ok((await attempt(`!${matches} || webhook.payload.ref == "x"`)).includes(warning), matches);
    for (const other of ['webhook.payload.ref.matches("[skip]+")', 'webhook.payload.ref.contains("[skip]")'])
      assert.ok(!(await attempt(other)).includes("matches one of"), other);
    await attempt('webhook.payload.ref.matches("[skip]")', "save");
    assert.ok(read(await bob.get(at)).includes(warning));
  });

  it("answer 404 for another organization's deliveries", async () => {
    const { path, at } = await trigger();
    const id = await send(path, "{}");
    const eve = { ...pages.ada, id: newId(new Date()), email: "eve@example.com" };
    await pages.services.db.transaction((tx) => insertUser(tx, eve));
    const stranger = await pages.visitor(eve);

    for (const each of [
      at,
      `${at}/send`,
      `${at}/filter`,
      `${at}/deliveries/${id}`,
      `${at}/deliveries/${id}/payload`,
    ])
      assert.equal((await stranger.get(each)).status, 404, each);
    for (const each of [`${at}/send`, `${at}/filter`, `${at}/deliveries/${id}/rebuild`])
      assert.equal((await stranger.post(each, { payload: "{}" })).status, 404, each);
  });
});
