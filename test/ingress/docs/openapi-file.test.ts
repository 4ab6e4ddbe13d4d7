import assert from "node:assert/strict";
import { it } from "node:test";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { request } from "../../helpers/http.ts";
import { startWorld } from "../../helpers/world.ts";

type Paths = Record<string, Record<string, { responses: object }>>;

describeWorldOn(sqlite, "GET /openapi.json", startWorld, (world) => {
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

  it("describes an answer of 4XX for every operation, and the addresses of the installation", async () => {
    const { paths } = JSON.parse((await ask()).text) as { paths: Paths };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => ({ name: `${method} ${path}`, responses })),
    );
    const without = operations.filter(({ responses }) =>
      Object.keys(responses).every((status) => !status.startsWith("4")),
    );
    assert.deepEqual(
      without.map(({ name }) => name),
      [],
    );
    for (const path of ["/healthz", "/readyz", "/openapi.json"]) assert.ok(paths[path], path);
  });

  it("names the refusal of headers that are too large, which no operation sees", async () => {
    const { status, body } = await request(`${world.url}/v2`, { headers: { "X-Large": "x".repeat(70_000) } });
    assert.deepEqual([status, body.message], [431, "The headers are too large"]);
  });

  it("answers HEAD with the length", async () => {
    const { headers, text } = await ask({ "Accept-Encoding": "identity" });
    const head = await ask({ "Accept-Encoding": "identity" }, "HEAD");

    assert.equal(head.text, "");
    assert.equal(headers.get("content-length"), String(Buffer.byteLength(text)));
    assert.equal(head.headers.get("content-length"), headers.get("content-length"));
  });
});
