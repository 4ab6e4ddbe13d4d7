import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sqlite } from "../../helpers/databases.ts";
import { request } from "../../helpers/http.ts";
import { startWorld, type World } from "../../helpers/world.ts";

describe("GET /openapi.json", () => {
  let world: World;
  before(async () => {
    world = await startWorld(sqlite);
  });
  after(() => world.close());

  const ask = (headers: Record<string, string> = {}, method = "GET") =>
    request(`${world.url}/openapi.json`, { method, headers });

  it("answers 304 to its ETag, and the document to another", async () => {
    const first = await ask();
    const etag = first.headers.get("etag") ?? "";
    assert.match(etag, /^"[0-9a-f]{16}-gzip"$/);
    assert.equal(first.headers.get("cache-control"), "no-cache");

    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const again = await ask({ "If-None-Match": known });
      assert.deepEqual([again.status, again.text, again.headers.get("etag")], [304, "", etag]);
      assert.equal(again.headers.get("access-control-allow-origin"), "*");
    }
    for (const other of ['"x"', "", etag.replaceAll('"', "")])
      assert.equal((await ask({ "If-None-Match": other })).text, first.text);
  });

  it("is compressed only for clients that accept gzip, under an ETag of its own", async () => {
    for (const accepted of ["gzip", "br, GZIP", "gzip;q=0.5", "gzip; q=1, br"]) {
      const { headers } = await ask({ "Accept-Encoding": accepted });
      assert.equal(headers.get("content-encoding"), "gzip", accepted);
      assert.equal(headers.get("vary"), "Accept-Encoding");
    }
    for (const refused of ["identity", "br", "gzip;q=0", "gzip;q=0.0", "x-gzip"]) {
      const { headers } = await ask({ "Accept-Encoding": refused });
      assert.equal(headers.get("content-encoding"), null, refused);
      assert.match(headers.get("etag") ?? "", /^"[0-9a-f]{16}"$/);
    }
  });

  it("answers HEAD with the length", async () => {
    const { headers, text } = await ask({ "Accept-Encoding": "identity" });
    const head = await ask({ "Accept-Encoding": "identity" }, "HEAD");

    assert.equal(head.text, "");
    assert.equal(headers.get("content-length"), String(Buffer.byteLength(text)));
    assert.equal(head.headers.get("content-length"), headers.get("content-length"));
  });
});
