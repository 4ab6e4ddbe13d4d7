import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { freePort } from "../../../scripts/scratch/ports.ts";
import { scopes } from "../../../shared/accounts/scopes.ts";
import { describeOnSqlite } from "../../helpers/databases.ts";
import {
  approveCode,
  assertNotStored,
  assertOAuthError,
  denyCode,
  setUpClient,
  type TestClient,
} from "../../helpers/device.ts";
import { eventually, get, request } from "../../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../../helpers/organization.ts";
import { startWorld, type World } from "../../helpers/world.ts";

describeOnSqlite("third-party OAuth clients", (database) => {
  let world: World;
  let acme: TestOrganization;

  before(async () => {
    const port = String(await freePort());
    world = await startWorld(database, {
      PORT: port,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      POLL_INTERVAL_SECONDS: "1",
      DEVICE_CODE_SECONDS: "90",
    });
    acme = await setUpOrganization(world);
  });
  after(() => world.close());

  const statusOf = async (token: string) => (await get(`${world.url}/v2/access-token`, token)).status;

  // Real-time waits run in parallel.
  describe("openid-client", { concurrency: true }, () => {
    type Algorithm = "oidc" | "oauth2";
    const discover = (client: TestClient, how: openid.ClientAuth, algorithm: Algorithm) =>
      openid.discovery(new URL(world.url), client.clientId, undefined, how, {
        execute: [openid.allowInsecureRequests],
        algorithm,
      });

    /** The user approves after the first poll. */
    async function signInAfterFirstPoll(client: TestClient, how: openid.ClientAuth, algorithm: Algorithm) {
      const config = await discover(client, how, algorithm);
      const codes = await openid.initiateDeviceAuthorization(config, { scope: "read_user read_builds" });
      assert.deepEqual([codes.expires_in, codes.interval], [90, 1]);
      assert.equal(codes.verification_uri, `${world.url}/oauth/device`);
      const told = observePolls(config, {
        after: async (error) =>
          error === "authorization_pending" && approveCode(world, acme, codes.user_code),
      });

      const tokens = await openid.pollDeviceAuthorizationGrant(config, codes);

      assert.deepEqual(told, ["authorization_pending", undefined]);
      assert.deepEqual([tokens.token_type, tokens.scope], ["bearer", "read_user read_builds"]);
      assert.equal(await statusOf(tokens.access_token), 200);
      return { config, tokens };
    }

    it("signs a public client in without a secret", async () => {
      const client = await setUpClient(world);

      const { config, tokens } = await signInAfterFirstPoll(client, openid.None(), "oidc");

      assert.deepEqual([tokens.expires_in, tokens.refresh_token], [undefined, undefined]);
      await openid.tokenRevocation(config, tokens.access_token);
      assert.equal(await statusOf(tokens.access_token), 401);
    });

    for (const [name, authentication, algorithm] of [
      ["HTTP Basic", openid.ClientSecretBasic, "oauth2"],
      ["its secret in the form", openid.ClientSecretPost, "oidc"],
    ] as const) {
      it(`signs a confidential client in by ${name}, refreshes, introspects and revokes`, async () => {
        const client = await setUpClient(world, { confidential: true, refreshTokens: true });
        const { config, tokens } = await signInAfterFirstPoll(
          client,
          authentication(client.secret),
          algorithm,
        );
        assert.equal(tokens.expires_in, 3600);

        const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? "", {
          scope: "read_user",
        });
        const active = await openid.tokenIntrospection(config, next.access_token);
        await openid.tokenRevocation(config, next.refresh_token ?? "");
        const ended = await openid.tokenIntrospection(config, next.access_token);

        assert.equal(next.scope, "read_user");
        assert.deepEqual([active.active, active.scope, active.sub], [true, "read_user", acme.user.id]);
        assert.deepEqual(ended, { active: false });
        assert.equal(await statusOf(tokens.access_token), 401);
      });
    }

    it("stops when the user denies, or the code expires", async () => {
      const client = await setUpClient(world);
      const config = await discover(client, openid.None(), "oauth2");
      const codes = await openid.initiateDeviceAuthorization(config, { scope: "read_user" });
      await denyCode(world, acme, codes.user_code);

      const isError = (expected: string) => (error: unknown) =>
        error instanceof openid.ResponseBodyError && error.status === 400 && error.error === expected;
      await assert.rejects(openid.pollDeviceAuthorizationGrant(config, codes), isError("access_denied"));
      const unknown = openid.initiateDeviceAuthorization(config, { scope: "nope" });
      await assert.rejects(unknown, isError("invalid_scope"));
    });

    it("gets a challenge for a wrong secret", async () => {
      const client = await setUpClient(world, { confidential: true });
      const config = await discover(client, openid.ClientSecretBasic("wrong"), "oidc");

      await assert.rejects(
        openid.initiateDeviceAuthorization(config, { scope: "read_user" }),
        (error) => error instanceof openid.WWWAuthenticateChallengeError && error.status === 401,
      );
    });
  });

  describe("oauth4webapi", () => {
    const insecure = { [oauth.allowInsecureRequests]: true };

    it("discovers the server, polls through every answer, and gets tokens", async () => {
      const { clientId: client_id } = await setUpClient(world);
      const issuer = new URL(world.url);
      const found = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: "oauth2" });
      const server = await oauth.processDiscoveryResponse(issuer, found);
      const none = oauth.None();
      const answered = await oauth.deviceAuthorizationRequest(
        server,
        { client_id },
        none,
        { scope: "read_user" },
        insecure,
      );
      const codes = await oauth.processDeviceAuthorizationResponse(server, { client_id }, answered);
      const pollOnce = async () => {
        const response = await oauth.deviceCodeGrantRequest(
          server,
          { client_id },
          none,
          codes.device_code,
          insecure,
        );
        return oauth.processDeviceCodeResponse(server, { client_id }, response);
      };
      const errorOfPoll = () =>
        pollOnce().then(
          () => assert.fail("was answered with tokens"),
          (error) => error instanceof oauth.ResponseBodyError && error.error,
        );

      assert.equal(await errorOfPoll(), "authorization_pending");
      await eventually("slow_down", async () => (await errorOfPoll()) === "slow_down");
      await approveCode(world, acme, codes.user_code);
      const tokens = await pollOnce();
      assert.equal(await errorOfPoll(), "invalid_grant");

      assert.equal(tokens.scope, "read_user");
      assert.equal(await statusOf(tokens.access_token), 200);
    });
  });

  describe("the server metadata", () => {
    for (const address of ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]) {
      it(`is at ${address}, for clients of any origin, and no cache stores it`, async () => {
        const answer = await get(world.url + address);

        assert.equal(answer.status, 200);
        assert.match(answer.headers.get("content-type") ?? "", /^application\/json\b/);
        assert.equal(answer.headers.get("access-control-allow-origin"), "*");
        assertNotStored(answer);
        assertNotStored(await request(world.url + address, { method: "HEAD" }));
        assert.deepEqual(answer.body, {
          issuer: world.url,
          device_authorization_endpoint: `${world.url}/oauth/device_authorization`,
          token_endpoint: `${world.url}/oauth/token`,
          revocation_endpoint: `${world.url}/oauth/revoke`,
          introspection_endpoint: `${world.url}/oauth/introspect`,
          grant_types_supported: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
          response_types_supported: ["none"],
          scopes_supported: scopes,
          token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
          revocation_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
          introspection_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
        });
      });

      it(`can only be read at ${address}`, async () => {
        const posted = request(world.url + address, { method: "POST" });

        const { headers } = await assertOAuthError(posted, 405, "invalid_request");

        assert.equal(headers.get("allow"), "GET, HEAD");
      });
    }
  });
});

/** Records each poll's error, undefined for tokens; `around` wraps each poll. */
function observePolls(
  config: openid.Configuration,
  around: { before?: () => Promise<unknown>; after: (error: string | undefined) => Promise<unknown> },
): (string | undefined)[] {
  const told: (string | undefined)[] = [];
  config[openid.customFetch] = async (url, init) => {
    const isPoll = String(init.body).includes("device_code=");
    if (isPoll) await around.before?.();
    const response = await fetch(url, init as RequestInit);
    if (isPoll) {
      const { error } = (await response.clone().json()) as { error?: string };
      told.push(error);
      await around.after(error);
    }
    return response;
  };
  return told;
}
