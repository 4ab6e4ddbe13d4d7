import assert from "node:assert/strict";
import { it } from "node:test";
import { Script } from "node:vm";
import { avatarPath } from "../../../../shared/accounts/avatar.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { request } from "../../../helpers/http.ts";
import { startWorld } from "../../../helpers/world.ts";

describeWorldOn(sqlite, "files of the pages", startWorld, (world) => {
  const file = async (path: string) => request(world.url + path);
  const harmless = "default-src 'none'; style-src 'unsafe-inline'";

  it("are cached for ever, at an address that changes with their content", async () => {
    const { text } = await file("/");
    const paths = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
    assert.ok(paths.length >= 3);
    for (const path of paths) {
      assert.match(path, /\?v=[0-9a-f]{12}$/);
      const { status, headers } = await file(path);
      assert.equal(status, 200);
      assert.equal(headers.get("cache-control"), "public, max-age=31536000, immutable");
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      assert.equal(headers.get("content-security-policy"), harmless);
      assert.deepEqual(headers.getSetCookie(), []);
    }
    assert.match((await file("/assets/style.css")).headers.get("content-type") ?? "", /^text\/css/);
    assert.equal((await file("/assets/icon.svg")).headers.get("content-type"), "image/svg+xml");
  });

  it("join the parts of the script of logs", async () => {
    const { status, text } = await file("/assets/log.js");

    assert.equal(status, 200);
    assert.doesNotThrow(() => new Script(text), "each name is there once");
    assert.doesNotMatch(text, /^(import|export) /m);
    assert.equal((await file("/assets/log/open.js")).status, 404);
  });

  it("exclude other files of the disk and names of object properties", async () => {
    for (const name of [
      "none.css",
      "..%2fpage.ts",
      "..%2f..%2f..%2fpackage.json",
      "%2e%2e%2fpage.ts",
      "..%5cpage.ts",
      "style.css%00",
      "style.css/x",
      "constructor",
      "__proto__",
      "toString",
      "",
    ])
      assert.equal((await file(`/assets/${name}`)).status, 404, name);
  });

  it("draw the initials of any name", async () => {
    for (const [name, shown] of [
      ["Ada Lovelace", "AL"],
      ["ada", "A"],
      ["  Åsa  von  Öberg ", "ÅÖ"],
      ["孫 悟空", "孫悟"],
      ["𝒜 𝒷", "𝒜𝒷"],
      ["<script> &lt;", "-"],
      ["'\"", "-"],
      ["ß ß", "SS"],
      ["ﬃ ﬃ", "FF"],
      ["", "-"],
    ]) {
      const { status, headers, text } = await file(avatarPath(name ?? ""));
      assert.equal(status, 200, name);
      assert.equal(headers.get("content-type"), "image/svg+xml");
      assert.equal(headers.get("cache-control"), "public, max-age=86400");
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      assert.equal(headers.get("content-security-policy"), harmless);
      assert.match(text, new RegExp(`^<svg [^>]*aria-label="${shown}"`), name);
    }
  });

  it("draw nothing else", async () => {
    for (const name of [
      "al.svg",
      "ALB.svg",
      "A",
      "A.png",
      ".svg",
      "%3Cscript%3E.svg",
      "A%22%20onload=x.svg",
      "&amp;.svg",
      "%00.svg",
      `${"A".repeat(500)}.svg`,
    ])
      assert.equal((await file(`/avatars/${name}`)).status, 404, name);
    assert.equal((await file("/avatars/%E0%A4.svg")).status, 400);
  });
});
