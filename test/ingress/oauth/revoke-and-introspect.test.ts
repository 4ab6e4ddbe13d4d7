import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { deactivateUser } from "../../../shared/accounts/users.ts";
import { issueToken } from "../../../shared/crypto/tokens.ts";
import { listConnectedApps } from "../../../shared/oauth/grants.ts";
import { describeWorld, withSettings } from "../../helpers/databases.ts";
import {
  assertOAuthError,
  postForm,
  refresh,
  setUpClient,
  signIn,
  type TestClient,
} from "../../helpers/device.ts";
import { get } from "../../helpers/http.ts";
import { addPerson, openAcme } from "../../helpers/organization.ts";

const dayMs = 86_400_000;

const settings = {
  AUTH_URL: "https://auth.example.com",
  DEVICE_AUTHORIZATIONS_PER_MINUTE: "1000",
};

describeWorld("revoking and introspecting tokens", withSettings(openAcme, settings), (world) => {
  let client: TestClient;
  let other: TestClient;
  let open: TestClient;

  before(async () => {
    world.clock.freeze();
    client = await setUpClient(world, { refreshTokens: true, confidential: true });
    other = await setUpClient(world, { refreshTokens: true, confidential: true });
    open = await setUpClient(world);
  });

  const revoke = (token: string, more: Record<string, string> = {}, as = client) =>
    postForm(`${world.url}/oauth/revoke`, { ...as.credentials, token, ...more });
  const introspect = (token: string, more: Record<string, string> = {}, as = client) =>
    postForm(`${world.url}/oauth/introspect`, { ...as.credentials, token, ...more });
  const statusOf = async (token: string) => (await get(`${world.url}/v2/access-token`, token)).status;
  const grantsOfAda = async () => (await listConnectedApps(world.services, world.acme.user.id)).length;
  const revoked = async (...args: Parameters<typeof revoke>) => {
    const { status, text } = await revoke(...args);
    assert.deepEqual([status, text], [200, ""]);
  };
  const inactive = async (...args: Parameters<typeof introspect>) => {
    const { status, body } = await introspect(...args);
    assert.deepEqual([status, body], [200, { active: false }]);
  };
  const oddTokens = [
    "x",
    "\0",
    "😀",
    issueToken("access"),
    issueToken("refresh"),
    issueToken("session"),
    "x".repeat(50_000),
  ];

  describe("POST /oauth/revoke", () => {
    it("ends only the access token; its grant and refresh token stay", async () => {
      const { access_token, refresh_token } = await signIn(world, client, world.acme);
      const before = await grantsOfAda();

      await revoked(access_token);

      assert.equal(await statusOf(access_token), 401);
      assert.equal(await grantsOfAda(), before);
      assert.equal((await refresh(world, client, refresh_token)).status, 200);
    });

    it("ends the grant with its last token", async () => {
      const before = await grantsOfAda();
      const { access_token } = await signIn(world, open, world.acme);
      assert.equal(await grantsOfAda(), before + 1);

      await revoked(access_token, {}, open);

      assert.equal(await statusOf(access_token), 401);
      assert.equal(await grantsOfAda(), before);
    });

    it("ends the grant and all its tokens when given a refresh token", async () => {
      const first = await signIn(world, client, world.acme);
      const before = await grantsOfAda();
      const second = (await refresh(world, client, first.refresh_token)).body;

      await revoked(second.refresh_token);

      assert.deepEqual([await statusOf(first.access_token), await statusOf(second.access_token)], [401, 401]);
      await assertOAuthError(refresh(world, client, second.refresh_token), 400, "invalid_grant");
      assert.equal(await grantsOfAda(), before - 1);
    });

    it("ends the grant even if the refresh token was rotated or has expired", async () => {
      const [rotated, expired] = [
        await signIn(world, client, world.acme),
        await signIn(world, client, world.acme),
      ];
      const second = (await refresh(world, client, rotated.refresh_token)).body;
      const before = await grantsOfAda();

      await revoked(rotated.refresh_token);
      await assertOAuthError(refresh(world, client, second.refresh_token), 400, "invalid_grant");
      world.clock.advance(31 * dayMs);
      await revoked(expired.refresh_token);

      assert.equal(await grantsOfAda(), before - 2);
    });

    it("answers 200 to unknown and ended tokens, with any token_type_hint", async () => {
      const { access_token, refresh_token } = await signIn(world, client, world.acme);
      for (const token of oddTokens) await revoked(token);

      await revoked(access_token, { token_type_hint: "refresh_token" });
      await revoked(access_token);
      await revoked(refresh_token, { token_type_hint: "nonsense" });
      await revoked(refresh_token);

      assert.equal(await statusOf(access_token), 401);
      await assertOAuthError(refresh(world, client, refresh_token), 400, "invalid_grant");
    });

    it("refuses another client's tokens and API access tokens, and keeps them", async () => {
      const { access_token, refresh_token } = await signIn(world, client, world.acme);
      const personal = await world.acme.token("read_user");

      for (const token of [access_token, refresh_token, personal]) {
        await assertOAuthError(revoke(token, {}, other), 400, "invalid_client");
        await assertOAuthError(revoke(token, {}, open), 400, "invalid_client");
      }
      await assertOAuthError(revoke(personal), 400, "invalid_client");

      assert.deepEqual([await statusOf(access_token), await statusOf(personal)], [200, 200]);
      assert.equal((await refresh(world, client, refresh_token)).status, 200);
    });

    it("lets public clients revoke their own tokens", async () => {
      const { access_token } = await signIn(world, open, world.acme);

      await revoked(access_token, {}, open);

      assert.equal(await statusOf(access_token), 401);
    });

    it("answers 400 invalid_request without a token, 401 without a client", async () => {
      const send = (more: Record<string, string>) => postForm(`${world.url}/oauth/revoke`, more);

      await assertOAuthError(send({ ...open.credentials, client_secret: "" }), 400, "invalid_request");
      await assertOAuthError(send({ token: issueToken("access") }), 401, "invalid_client");
    });
  });

  describe("POST /oauth/introspect", () => {
    it("describes an access token", async () => {
      const { access_token } = await signIn(world, client, world.acme, "read_user read_builds");
      const now = Math.floor(world.clock.now().getTime() / 1000);

      const { status, body } = await introspect(access_token);

      assert.equal(status, 200);
      assert.deepEqual(body, {
        active: true,
        iss: "https://auth.example.com",
        client_id: client.clientId,
        sub: world.acme.user.id,
        username: world.acme.user.email,
        scope: "read_user read_builds",
        token_type: "Bearer",
        iat: now,
        exp: now + 3600,
      });
    });

    it("describes a refresh token", async () => {
      const { refresh_token } = await signIn(world, client, world.acme);
      const now = Math.floor(world.clock.now().getTime() / 1000);

      const { body } = await introspect(refresh_token, { token_type_hint: "access_token" });

      assert.deepEqual(body, {
        active: true,
        iss: "https://auth.example.com",
        client_id: client.clientId,
        sub: world.acme.user.id,
        username: world.acme.user.email,
        scope: "read_user",
        iat: now,
        exp: now + (30 * dayMs) / 1000,
      });
    });

    it("leaves exp out of a token that does not expire", async () => {
      const lasting = await setUpClient(world, { confidential: true });
      const { access_token } = await signIn(world, lasting, world.acme);

      const { body } = await introspect(access_token, {}, lasting);

      assert.equal(body.active, true);
      assert.ok(!("exp" in body));
    });

    it("answers only active=false for an expired, rotated, revoked, foreign or unknown token", async () => {
      const { access_token, refresh_token } = await signIn(world, client, world.acme);
      await inactive(access_token, {}, other);
      await inactive(refresh_token, {}, other);
      const rotated = (await refresh(world, client, refresh_token)).body;
      await inactive(refresh_token);
      await revoke(rotated.access_token);
      await inactive(rotated.access_token);
      world.clock.advance(3_600_000);
      await inactive(access_token);
      world.clock.advance(30 * dayMs);
      await inactive(rotated.refresh_token);
      await inactive(await world.acme.token("read_user"));
      for (const token of oddTokens) await inactive(token);
    });

    it("answers active=false for the tokens of a deactivated user", async () => {
      const user = await addPerson(world, world.acme);
      const { access_token, refresh_token } = await signIn(world, client, { id: world.acme.id, user });

      await deactivateUser(world.services, user.email);

      await inactive(access_token);
      await inactive(refresh_token);
    });

    it("answers 401 invalid_client to public clients, 400 invalid_request without a token", async () => {
      const { access_token } = await signIn(world, open, world.acme);

      await assertOAuthError(introspect(access_token, {}, open), 401, "invalid_client");
      await assertOAuthError(introspect("", {}), 400, "invalid_request");
    });
  });
});
