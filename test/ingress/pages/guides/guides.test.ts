import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";
import { guides } from "../../../../ingress/pages/guides/list.ts";
import { findGuide, renderGuide } from "../../../../ingress/pages/guides/render.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { get } from "../../../helpers/http.ts";
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

describe("a guide", () => {
  it("leads only to anchors that exist, to other guides and to other hosts", () => {
    for (const name of names) {
      const { html, sections } = findGuide(name);
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
