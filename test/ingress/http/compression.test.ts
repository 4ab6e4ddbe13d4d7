import assert from "node:assert/strict";
import { get } from "node:http";
import { buffer } from "node:stream/consumers";
import { it } from "node:test";
import { gunzipSync } from "node:zlib";
import { csrfTokenIn } from "../../../scripts/scratch/visitor.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { startPages } from "../../helpers/pages.ts";

interface Sent {
  method?: string;
  headers?: Record<string, string>;
}

/** Decodes nothing, as `fetch` would. */
async function read(url: string, { method = "GET", headers = {} }: Sent = {}) {
  const answer = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
    get(url, { method, headers, agent: false }, resolve).on("error", reject);
  });
  const bytes = await buffer(answer);
  const isGzip = answer.headers["content-encoding"] === "gzip";
  return {
    headers: answer.headers,
    bytes,
    isGzip,
    text: (isGzip && bytes.length > 0 ? gunzipSync(bytes) : bytes).toString(),
  };
}

const gzip = { "Accept-Encoding": "gzip" };
const pipelinesPage = "/organizations/acme/pipelines";

describeWorldOn(sqlite, "compressed answers", startPages, (pages) => {
  const cookieOf = async () => ({ cookie: (await pages.visitor(pages.ada)).cookie });

  it("are pages of an organization, with their length and Vary", async () => {
    const page = await read(pages.url + pipelinesPage, { headers: { ...(await cookieOf()), ...gzip } });

    assert.ok(page.isGzip);
    assert.equal(page.headers["content-length"], String(page.bytes.length));
    assert.equal(page.headers.vary, "Accept-Encoding");
    assert.ok(page.bytes.length < page.text.length / 2);
    assert.match(page.text, /^<!doctype html>.*<\/html>$/s);
  });

  for (const [accepted, isGzip] of [
    [undefined, false],
    ["", false],
    ["identity", false],
    ["br", false],
    ["gzip;q=0", false],
    ["gzip;q=0, *", false],
    ["identity, gzip;q=0.5", false],
    ["*;q=0", false],
    ["gzip", true],
    ["GZIP;Q=0.1", true],
    ["*", true],
    ["gzip, deflate, br, zstd", true],
    ["br;q=1, gzip;q=0.2", true],
  ] as const)
    it(`follow Accept-Encoding: ${accepted}`, async () => {
      const headers = {
        ...(await cookieOf()),
        ...(accepted !== undefined && { "Accept-Encoding": accepted }),
      };
      const page = await read(pages.url + pipelinesPage, { headers });

      assert.equal(page.isGzip, isGzip);
      assert.equal(page.headers.vary, "Accept-Encoding");
      assert.match(page.text, /<\/html>$/);
    });

  it("are styles and scripts, whose ETag tells them from the plain ones", async () => {
    const address = /href="(\/assets\/style\.css[^"]*)"/.exec((await read(pages.url)).text)?.[1] ?? "";
    const url = pages.url + address;

    const [plain, packed] = [await read(url), await read(url, { headers: gzip })];
    const known = await read(url, { headers: { ...gzip, "If-None-Match": packed.headers.etag as string } });

    assert.deepEqual([plain.isGzip, packed.isGzip, plain.text], [false, true, packed.text]);
    assert.notEqual(plain.headers.etag, packed.headers.etag);
    assert.deepEqual([known.bytes.length, known.headers.vary], [0, "Accept-Encoding"]);
  });

  it("have no length in the answer to HEAD", async () => {
    const cookie = await cookieOf();
    const head = await read(pages.url + pipelinesPage, { method: "HEAD", headers: { ...cookie, ...gzip } });
    const plain = await read(pages.url + pipelinesPage, { method: "HEAD", headers: cookie });

    assert.deepEqual([head.headers["content-encoding"], head.headers["content-length"]], ["gzip", undefined]);
    assert.deepEqual([head.headers.vary, plain.headers.vary], ["Accept-Encoding", "Accept-Encoding"]);
    assert.ok(Number(plain.headers["content-length"]) > 1024);
  });

  it("are none that may show a secret, and none that a browser asks for on behalf of another site", async () => {
    const ada = await pages.visitor(pages.ada);
    const trigger = { type: "webhook", label: "Hook", enabled: "1", csrf_token: "" };
    trigger.csrf_token = csrfTokenIn((await ada.get(pipelinesPage)).text) ?? "";
    const created = await fetch(`${pages.url}${pipelinesPage}/web/triggers/new`, {
      method: "POST",
      headers: { cookie: ada.cookie, ...gzip },
      body: new URLSearchParams(trigger),
    });
    const ofAnotherSite = { cookie: ada.cookie, ...gzip, "Sec-Fetch-Site": "cross-site" };

    assert.match(await created.text(), /\/deliver\//);
    assert.equal(created.headers.get("content-encoding"), null);
    for (const path of [pipelinesPage, `${pipelinesPage}?filter=guess`])
      assert.ok(!(await read(pages.url + path, { headers: ofAnotherSite })).isGzip);
    for (const path of ["/sign-in", "/oauth/device", "/v3/ping"])
      assert.ok(!(await read(pages.url + path, { headers: gzip })).isGzip, path);
  });

  it("are no event streams", async () => {
    const ada = await pages.visitor(pages.ada);
    const events = /data-events="([^"]*)"/.exec((await ada.get(pipelinesPage)).text)?.[1];
    const address = pages.url + events?.replaceAll("&amp;", "&");
    const { headers } = await fetch(address, {
      headers: { cookie: ada.cookie, ...gzip },
      signal: AbortSignal.timeout(5000),
    });

    assert.equal(headers.get("content-type"), "text/event-stream");
    assert.equal(headers.get("content-encoding"), null);
  });
});

describeWorldOn(sqlite, "compressed JSON", openApi, (api) => {
  const bearer = () => ({ Authorization: `Bearer ${api.adminToken}` });

  it("is small and large JSON of REST, and none below 1 KB", async () => {
    const steps = (count: number) => Array(count).fill({ command: "make check ".repeat(300) });
    const small = await api.newPipeline({ steps: steps(5) });
    const large = await api.newPipeline({ steps: steps(100) });
    const path = (slug: string) => `${api.world.url}/v2/organizations/acme/pipelines/${slug}`;

    const [ofSmall, ofLarge, ofUser] = [
      await read(path(small.slug), { headers: { ...bearer(), ...gzip } }),
      await read(path(large.slug), { headers: { ...bearer(), ...gzip } }),
      await read(`${api.world.url}/v2/user`, { headers: { ...bearer(), ...gzip } }),
    ];

    assert.deepEqual([ofSmall.isGzip, ofLarge.isGzip, ofUser.isGzip], [true, true, false]);
    assert.deepEqual([ofSmall.headers.vary, ofLarge.headers.vary], ["Accept-Encoding", "Accept-Encoding"]);
    assert.deepEqual(JSON.parse(ofSmall.text).steps.length, 5);
    assert.deepEqual(JSON.parse(ofLarge.text).steps.length, 100);
    assert.ok(ofLarge.text.length > 256 * 1024 && ofLarge.bytes.length < 64 * 1024);
    assert.equal(ofLarge.text, (await read(path(large.slug), { headers: bearer() })).text);
  });

  it("has no answer to other methods than GET", async () => {
    const { headers } = await fetch(`${api.world.url}/v2/organizations/acme/pipelines`, {
      method: "POST",
      headers: { ...bearer(), ...gzip, "Content-Type": "application/json" },
      body: JSON.stringify({
        name: "Many",
        repository: "git@example.com:a/b.git",
        cluster_id: api.acme.cluster.id,
        steps: Array(50).fill({ command: "make" }),
      }),
    });

    assert.deepEqual([headers.get("content-encoding"), headers.get("vary")], [null, null]);
  });
});

describeWorldOn(sqlite, "form tokens", startPages, (pages) => {
  it("are masked anew in each answer, and all of a session are taken", async () => {
    const ada = await pages.visitor(pages.ada);
    const tokenOf = async () => csrfTokenIn((await ada.get("/user/password")).text) ?? "";
    const [first, second] = [await tokenOf(), await tokenOf()];
    const send = (csrf_token: string) => ada.post("/user/password", { csrf_token });

    assert.notEqual(first, second);
    for (const token of [second, first]) assert.notEqual((await send(token)).status, 403);
    for (const token of ["", "A".repeat(first.length), first.slice(0, -2), first.slice(43)])
      assert.equal((await send(token)).status, 403);
  });
});
