import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { scopes } from "../../shared/accounts/scopes.ts";
import { describeOnEachDatabase } from "../helpers/databases.ts";
import { assertNotStored, assertOAuthError } from "../helpers/device.ts";
import { get, request } from "../helpers/http.ts";
import { startWorld, type World } from "../helpers/world.ts";

const addresses = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];

describeOnEachDatabase("authorization server metadata", (database) => {
  let world: World;
  before(async () => {
    world = await startWorld(database, { AUTH_URL: "https://auth.example.com" });
  });
  after(() => world.close());

  for (const address of addresses) {
    it(`is at ${address}, for clients of any origin`, async () => {
      const { status, headers, body } = await get(world.url + address);

      assert.equal(status, 200);
      assert.match(headers.get("content-type") ?? "", /^application\/json\b/);
      assert.equal(headers.get("access-control-allow-origin"), "*");
      assert.deepEqual(body, {
        issuer: "https://auth.example.com",
        device_authorization_endpoint: "https://auth.example.com/oauth/device_authorization",
        token_endpoint: "https://auth.example.com/oauth/token",
        revocation_endpoint: "https://auth.example.com/oauth/revoke",
        introspection_endpoint: "https://auth.example.com/oauth/introspect",
        grant_types_supported: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
        response_types_supported: ["none"],
        scopes_supported: scopes,
        token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
        revocation_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
        introspection_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      });
    });

    it(`is never stored by a cache, and can only be read, at ${address}`, async () => {
      assertNotStored(await get(world.url + address));
      assertNotStored(await request(world.url + address, { method: "HEAD" }));
      const posted = request(world.url + address, { method: "POST" });
      const { headers } = await assertOAuthError(posted, 405, "invalid_request");
      assert.equal(headers.get("allow"), "GET, HEAD");
    });
  }
});
