import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";
import { guides } from "../../../../ingress/pages/guides/list.ts";
import { findGuide, forReader, renderGuide } from "../../../../ingress/pages/guides/render.ts";
import { insertUser } from "../../../../shared/accounts/user-store.ts";
import { newId } from "../../../../shared/ids.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { get } from "../../../helpers/http.ts";
import { startPages } from "../../../helpers/pages.ts";
import { startWorld } from "../../../helpers/world.ts";

type GuideName = keyof typeof guides;
const names = Object.keys(guides) as GuideName[];

describeWorldOn(sqlite, "GET /docs", startWorld, (world) => {
  it("lists the guides to anybody, and shows each", async () => {
    const list = await get(`${world.url}/docs`);
    assert.equal(list.status, 200);
    for (const name of names) {
      assert.ok(list.text.includes(`<a href="/docs/${name}">${guides[name].title}</a>`), name);
      const { status, text } = await get(`${world.url}/docs/${name}`);
      assert.equal(status, 200, name);
      assert.match(text, /<article><h1 id="/);
      assert.ok(Buffer.byteLength(text) < 300_000, name);
    }
    assert.match(list.text, /href="\/docs\/api"/);
  });

  it("answers 404 to a page that is no guide", async () => {
    for (const name of ["nothing", "constructor", "..%2f..%2fpackage.json"])
      assert.equal((await get(`${world.url}/docs/${name}`)).status, 404, name);
  });
});

describeWorldOn(sqlite, "GET /docs/steps", startPages, (pages) => {
  it("opens the form of a pipeline with an example, in the organization that the reader saw last", async () => {
    await pages.asAda.get("/organizations/acme");
    const { text } = await pages.asAda.get("/docs/steps");
    const [, form = ""] = /<p class="try"[^>]*><a href="([^"]+)"/.exec(text) ?? [];
    const filled = await pages.asAda.get(form);

    assert.match(form, /^\/organizations\/acme\/new-pipeline\?configuration=steps/);
    assert.equal(filled.status, 200);
    assert.match(filled.text, /<textarea id="field-configuration"[^>]*>steps:\n {2}- label: Tests/);
  });
});

describeWorldOn(sqlite, "GET /docs/webhooks", startPages, (pages) => {
  const firstExample = /<p class="try" id="([^"]+)"><a href="([^"]+)">Try it<\/a>/;
  const exampleIn = (text: string) => {
    const [, id = "", href = ""] = firstExample.exec(text) ?? assert.fail(text);
    return { id, href: href.replaceAll("&amp;", "&") };
  };

  it("tries an example of a filter on the delivery above it, without scripts", async () => {
    await pages.asAda.get("/organizations/globex");
    const { href } = exampleIn((await pages.asAda.get("/docs/webhooks")).text);
    const [path = "", query] = href.split("?");
    const example = Object.fromEntries(new URLSearchParams(query));
    assert.equal(path, "/organizations/globex/try-filter");
    assert.equal(example.expression, 'webhook.payload.ref == "refs/heads/main"');
    assert.equal(example.headers, "X-GitHub-Event: push");

    const filled = await pages.asAda.get(href);
    assert.equal(filled.status, 200);
    assert.match(filled.text, /<textarea id="field-payload"[^>]*>\{\n {2}(&quot;|")ref/);

    const tried = await pages.asAda.post(path, example);
    assert.equal(tried.status, 200);
    assert.match(tried.text, /True: this delivery would make a build/);
  });

  it("leads a guest from an example to the sign-in, and back to it", async () => {
    const guest = await pages.visitor();
    const { id, href } = exampleIn((await guest.get("/docs/webhooks")).text);
    const form = await guest.get(href);

    const [, to = ""] = /name="to" value="([^"]+)"/.exec(form.text) ?? [];
    assert.equal(to, `/docs/webhooks#${id}`);
  });

  it("leads a user without an organization home, which says how to join one", async () => {
    const eve = { ...pages.ada, id: newId(new Date()), email: "eve@example.com" };
    await pages.services.db.transaction((tx) => insertUser(tx, eve));
    const stranger = await pages.visitor(eve);
    const { href } = exampleIn((await stranger.get("/docs/webhooks")).text);

    assert.match((await stranger.get(href)).text, /You belong to no organization yet/);
  });
});

describe("a guide", () => {
  it("leads only to anchors that exist, to other guides and to other hosts", () => {
    for (const name of names) {
      const { sections, ...guide } = findGuide(name);
      const html = forReader(guide, undefined, (example) => `#${example}`);
      assert.ok(existsSync(guides[name].file), name);
      for (const { id } of sections) assert.ok(html.includes(` id="${id}"`), `${name}#${id}`);
      for (const [, href = ""] of html.matchAll(/<a href="([^"]*)"/g)) {
        if (/^https?:/.test(href)) continue;
        const [, page = name, id] =
          /^(?:\/docs\/(\w+))?(?:#(.*))?$/.exec(href) ?? assert.fail(`${name}: ${href}`);
        const target = findGuide(page as GuideName);
        assert.ok(id === undefined || target.html.includes(` id="${id}"`), `${name}: ${href}`);
      }
    }
  });

  it("has a link to try each example of whole steps", () => {
    const { html } = renderGuide("```yaml\nsteps:\n  - wait\n```\n\n```yaml\nnotify: []\n```\n", "a.md");

    assert.deepEqual(html.match(/new-pipeline\?[^"]*/g), [
      "new-pipeline?configuration=steps%3A%0A++-+wait%0A",
    ]);
  });

  it("leaves out comments", () => {
    for (const name of names) assert.doesNotMatch(findGuide(name).html, /&lt;!--/, name);
  });

  it("shows HTML as text, and drops links to files of the tree", () => {
    const { html } = renderGuide(
      "# A <b>\n\n[why](../decisions/x.md) <script>x</script> [js](javascript:x)",
      "shared/a/b.md",
    );
    assert.equal(
      html,
      '<h1 id="a-b">A &lt;b&gt;</h1>\n<p>why &lt;script&gt;x&lt;/script&gt; [js](javascript:x)</p>\n',
    );
  });
});
