import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { get as httpGet, type IncomingHttpHeaders } from "node:http";
import { before, describe, it } from "node:test";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { get, request } from "../../helpers/http.ts";
import { startWorld } from "../../helpers/world.ts";

const settings = {
  BASE_URL: "https://api.example.com",
  AUTH_URL: "https://auth.example.com",
  WEBHOOK_URL: "https://hooks.example.com",
  APP_URL: "https://app.example.com",
};

describeWorldOn(sqlite, "GET /docs/api", withSettings(startWorld, settings), (world) => {
  let scripts: string[];
  before(async () => {
    const { text } = await get(`${world.url}/docs/api`);
    scripts = [...text.matchAll(/<script src="([^"]+)"/g)].map(([, path]) => path ?? "");
  });

  it("lets the renderer call the API and nothing else", async () => {
    const { status, headers } = await get(`${world.url}/docs/api`);
    assert.equal(status, 200);
    const policy = headers.get("content-security-policy") ?? "";
    const directives = Object.fromEntries(
      policy.split("; ").map((each) => [each.split(" ")[0], each.split(" ").slice(1)]),
    );
    assert.deepEqual(directives, {
      "default-src": ["'none'"],
      "script-src": ["'self'"],
      "style-src": ["'self'", "'unsafe-inline'"],
      "img-src": ["'self'", "data:"],
      "connect-src": [
        "https://api.example.com/openapi.json",
        "https://api.example.com/v2",
        "https://api.example.com/v2/",
        "https://api.example.com/v3/",
        "https://auth.example.com/oauth/device_authorization",
        "https://auth.example.com/oauth/token",
        "https://auth.example.com/oauth/revoke",
        "https://auth.example.com/oauth/introspect",
        "https://auth.example.com/.well-known/oauth-authorization-server",
        "https://auth.example.com/.well-known/openid-configuration",
        "https://hooks.example.com/deliver/",
      ],
      "form-action": ["'none'"],
      "frame-ancestors": ["'none'"],
      "base-uri": ["'none'"],
    });
    assert.equal(headers.get("cross-origin-opener-policy"), "same-origin");
    assert.deepEqual(headers.getSetCookie(), []);
  });

  it("has the same policy whatever Host the request names", async () => {
    const own = await get(`${world.url}/docs/api`);
    const { port } = new URL(world.url);
    const foreign = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
      const call = { host: "127.0.0.1", port, path: "/docs/api", headers: { Host: "evil.example.com" } };
      httpGet(call, (response) => {
        resolve(response.headers);
        response.resume();
      }).on("error", reject);
    });
    assert.equal(foreign["content-security-policy"], own.headers.get("content-security-policy"));
  });

  it("links the document for browsers without scripts", async () => {
    const { text } = await get(`${world.url}/docs/api`);
    const [, withoutScripts] = /<body><noscript>(.*?)<\/noscript>/.exec(text) ?? [];
    assert.match(withoutScripts ?? "", /<a href="\/openapi\.json">/);
    assert.deepEqual(text.match(/[^"]*:\/\/[^"]*/g), ["https://api.example.com/openapi.json"]);
  });

  it("has scripts that are cached for good, with the version in the path", async () => {
    assert.equal(scripts.length, 2);
    for (const path of scripts) {
      assert.match(path, /^\/docs\/[0-9a-f.]+\/[a-z]+\.js$/);
      const { status, headers } = await get(world.url + path);
      assert.equal(status, 200);
      assert.equal(headers.get("cache-control"), "public, max-age=31536000, immutable");
      assert.equal(headers.get("content-type"), "text/javascript;charset=UTF-8");
      assert.equal(headers.get("content-encoding"), "gzip");
      assert.equal(headers.get("content-security-policy"), "default-src 'none'");
      const known = { "If-None-Match": headers.get("etag") ?? "" };
      assert.equal((await request(world.url + path, { headers: known })).status, 304);
    }
  });

  it("serves no other file and no other version", async () => {
    const [first = ""] = scripts;
    const others = [
      first.replace(/\/docs\/[^/]+/, "/docs/0.0.0"),
      first.replace("scalar.js", "standalone.js"),
      first.replace("scalar.js", "..%2f..%2fpackage.json"),
      first.replace("scalar.js", "constructor"),
      `${first}/x`,
      "/docs/x/__proto__",
    ];
    for (const path of others) assert.equal((await get(world.url + path)).status, 404, path);
  });
});

describe("the renderer of /docs/api", () => {
  it("depends only on packages that are replaced or ours", () => {
    const readPackage = (path: string) => JSON.parse(readFileSync(path, "utf8"));
    const ours = readPackage("package.json");
    const renderer = readPackage("node_modules/@scalar/api-reference/package.json");
    const replaced = ours.overrides["@scalar/api-reference"];

    const installed = Object.keys(renderer.dependencies).filter((name) => !(name in replaced));

    assert.deepEqual(
      installed.filter((name) => !(name in ours.dependencies)),
      [],
      "replace these in `overrides` of package.json",
    );
  });
});
