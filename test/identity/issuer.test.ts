import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import * as openid from "openid-client";
import { freePort } from "../../scripts/scratch/ports.ts";
import { describeOnSqlite } from "../helpers/databases.ts";
import { request } from "../helpers/http.ts";
import { startWorld, type World } from "../helpers/world.ts";

describeOnSqlite("GET /v3/.well-known/openid-configuration", (database) => {
  let world: World;

  before(async () => {
    const port = String(await freePort());
    world = await startWorld(database, { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` });
  });
  after(() => world.close());

  it("leads a client from the issuer of a token to the keys, without a token of its own", async () => {
    const found = await openid.discovery(new URL(`${world.url}/v3`), "any", undefined, openid.None(), {
      execute: [openid.allowInsecureRequests],
    });
    const { issuer, jwks_uri = "", ...rest } = found.serverMetadata();
    const { status, headers, body } = await request(jwks_uri);

    assert.equal(issuer, `${world.url}/v3`);
    assert.deepEqual(rest.id_token_signing_alg_values_supported, ["RS256"]);
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /^application\/json/);
    assert.equal(headers.get("cache-control"), "public, max-age=300");
    assert.equal(headers.get("access-control-allow-origin"), "*");
    const [key] = body.keys;
    assert.deepEqual(Object.keys(key).sort(), ["alg", "e", "kid", "kty", "n", "use"], "no private part");
    assert.deepEqual([key.kty, key.alg, key.use], ["RSA", "RS256", "sig"]);
    assert.equal(Buffer.from(key.n, "base64url").length, 256);
  });

  it("answers HEAD, and 405 to whatever else; the root document stays that of OAuth", async () => {
    for (const path of ["openid-configuration", "jwks"]) {
      const url = `${world.url}/v3/.well-known/${path}`;
      assert.equal((await request(url, { method: "HEAD" })).status, 200);
      assert.equal((await request(url, { method: "POST" })).status, 405);
    }
    const { body } = await request(`${world.url}/.well-known/openid-configuration`);
    assert.deepEqual([body.issuer, body.jwks_uri], [world.url, undefined]);
  });
});
