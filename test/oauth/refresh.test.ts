import assert from "node:assert/strict";
import { before, beforeEach, describe, it } from "node:test";
import { removeMember, updateMember } from "../../shared/accounts/members.ts";
import { deactivateUser } from "../../shared/accounts/users.ts";
import { issueToken } from "../../shared/crypto/tokens.ts";
import { listConnectedApps, revokeGrants } from "../../shared/oauth/grants.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import {
  assertOAuthError,
  type Decider,
  refresh,
  setUpClient,
  signIn,
  type TestClient,
} from "../helpers/device.ts";
import { get } from "../helpers/http.ts";
import { addPerson, openAcme } from "../helpers/organization.ts";

const secondMs = 1000;
const dayMs = 86_400 * secondMs;

const open = withSettings(openAcme, { DEVICE_AUTHORIZATIONS_PER_MINUTE: "1000" });

describeWorldOn(sqlite, "POST /oauth/token, refresh_token grant", open, (world) => {
  let client: TestClient;
  let first: { access_token: string; refresh_token: string };

  before(async () => {
    world.clock.freeze();
    client = await setUpClient(world, { refreshTokens: true, confidential: true });
  });
  beforeEach(async () => {
    first = await signIn(world, client, world.acme, "read_user read_builds");
  });

  const use = (token: string, more?: Record<string, string | undefined>) =>
    refresh(world, client, token, more);
  const pair = async (token: string, more?: Record<string, string>) => {
    const { status, body, text } = await use(token, more);
    assert.equal(status, 200, text);
    return body;
  };
  const refused = (token: string, error = "invalid_grant", more?: Record<string, string | undefined>) =>
    assertOAuthError(use(token, more), 400, error);
  const statusOf = async (token: string) => (await get(`${world.url}/v2/access-token`, token)).status;
  const grantsOf = async (userId: string) => (await listConnectedApps(world.services, userId)).length;
  const newMember = (role?: "admin" | "member") => addPerson(world, world.acme, role);

  describe("200", () => {
    it("answers a new pair; the old access token works until it expires", async () => {
      const { status, body } = await use(first.refresh_token);

      assert.equal(status, 200);
      const { access_token, refresh_token, ...rest } = body;
      assert.deepEqual(rest, { token_type: "Bearer", expires_in: 3600, scope: "read_user read_builds" });
      assert.match(access_token, /^sbat_/);
      assert.match(refresh_token, /^sbrt_/);
      assert.notEqual(access_token, first.access_token);
      assert.notEqual(refresh_token, first.refresh_token);
      assert.deepEqual([await statusOf(first.access_token), await statusOf(access_token)], [200, 200]);
      world.clock.advance(3600 * secondMs);
      assert.deepEqual([await statusOf(first.access_token), await statusOf(access_token)], [401, 401]);
    });

    it("keeps one grant after many refreshes", async () => {
      const before = await grantsOf(world.acme.user.id);

      let { refresh_token } = first;
      for (let times = 0; times < 5; times++) {
        world.clock.advance(3600 * secondMs);
        ({ refresh_token } = await pair(refresh_token));
      }

      assert.equal(await grantsOf(world.acme.user.id), before);
    });

    it("narrows the access token's scope on request, and restores it later", async () => {
      const narrow = await pair(first.refresh_token, { scope: "read_user read_user" });
      assert.equal(narrow.scope, "read_user");
      const { body } = await get(`${world.url}/v2/access-token`, narrow.access_token);
      assert.deepEqual(body.scopes, ["read_user"]);

      assert.equal((await pair(narrow.refresh_token)).scope, "read_user read_builds");
    });
  });

  describe("400 invalid_scope", () => {
    it("refuses scopes that are unknown or not granted, and keeps the token", async () => {
      for (const scope of ["read_user write_builds", "write_builds", "nope", "READ_USER", "\0", " ", "   "])
        await refused(first.refresh_token, "invalid_scope", { scope });

      await pair(first.refresh_token);
    });
  });

  describe("reuse of a rotated token", () => {
    it("answers new pairs of one grant within 30 seconds, for parallel clients", async () => {
      const before = await grantsOf(world.acme.user.id);
      const second = await pair(first.refresh_token);

      world.clock.advance(30 * secondMs);
      const third = await pair(first.refresh_token);

      assert.notEqual(third.refresh_token, second.refresh_token);
      for (const { access_token, refresh_token } of [second, third]) {
        assert.equal(await statusOf(access_token), 200);
        await pair(refresh_token);
      }
      assert.equal(await grantsOf(world.acme.user.id), before);
    });

    it("does not extend the 30 seconds with each use", async () => {
      await pair(first.refresh_token);
      world.clock.advance(20 * secondMs);
      await pair(first.refresh_token);
      world.clock.advance(10 * secondMs + 1);

      await refused(first.refresh_token);
    });

    it("revokes the grant and all its tokens a millisecond later", async () => {
      const before = await grantsOf(world.acme.user.id);
      const second = await pair(first.refresh_token);

      world.clock.advance(30 * secondMs + 1);
      await refused(first.refresh_token);

      await refused(second.refresh_token);
      assert.deepEqual([await statusOf(first.access_token), await statusOf(second.access_token)], [401, 401]);
      assert.equal(await grantsOf(world.acme.user.id), before - 1);
      const { db } = world.services;
      const audited = (await db.select().from(db.tables.auditEvents)).map(({ action }) => action);
      assert.ok(audited.includes("revoked after reuse of a refresh token"));
    });

    it("also revokes the grant if the token has expired or asks for too many scopes", async () => {
      const other = await signIn(world, client, world.acme);
      const [second, ofOther] = [await pair(first.refresh_token), await pair(other.refresh_token)];
      world.clock.advance(29 * dayMs);
      const [third, ofOtherToo] = [await pair(second.refresh_token), await pair(ofOther.refresh_token)];
      world.clock.advance(2 * dayMs);

      await refused(first.refresh_token);
      await refused(other.refresh_token, "invalid_grant", { scope: "nope" });

      await refused(third.refresh_token);
      await refused(ofOtherToo.refresh_token);
    });
  });

  describe("400 invalid_grant", () => {
    it("refuses another client's token, even a rotated one, and changes nothing", async () => {
      const thief = await setUpClient(world, { refreshTokens: true });
      const second = await pair(first.refresh_token);
      world.clock.advance(60 * secondMs);

      for (const token of [first.refresh_token, second.refresh_token])
        await assertOAuthError(refresh(world, thief, token), 400, "invalid_grant");

      await pair(second.refresh_token);
    });

    it("refuses a token that is not a refresh token", async () => {
      const { refresh_token: real, access_token } = first;
      const mistyped = real.slice(0, -1) + (real.endsWith("x") ? "y" : "x");
      const odd = ["x", "\0", "😀", `${real} `, real.repeat(1000), real.toUpperCase()];
      for (const token of [...odd, mistyped, access_token, issueToken("refresh")]) await refused(token);

      await pair(real);
    });

    it("refuses a token exactly 30 days after its last use", async () => {
      world.clock.advance(30 * dayMs - 1);
      const second = await pair(first.refresh_token);
      world.clock.advance(30 * dayMs);

      await refused(second.refresh_token);
    });

    it("refuses a token of a revoked grant", async () => {
      const [app] = await listConnectedApps(world.services, world.acme.user.id);
      await revokeGrants(world.services, world.acme.user.id, { id: app?.grant.id ?? "" });

      await refused(first.refresh_token);
      assert.equal(await statusOf(first.access_token), 401);
    });

    it("refuses a removed member and a deactivated user", async () => {
      const [removed, gone] = [await newMember(), await newMember()];
      const ofRemoved = await signIn(world, client, { id: world.acme.id, user: removed });
      const ofGone = await signIn(world, client, { id: world.acme.id, user: gone });

      await removeMember(world.services, { organization: world.acme.slug, email: removed.email });
      await deactivateUser(world.services, gone.email);

      for (const { refresh_token } of [ofRemoved, ofGone]) await refused(refresh_token);
    });

    it("grants the scopes that the user may still have, and refuses if none remain", async () => {
      const user = await newMember("admin");
      const decider: Decider = { id: world.acme.id, user };
      const some = await signIn(world, client, decider, "write_clusters read_user");
      const none = await signIn(world, client, decider, "write_clusters");

      await updateMember(world.services, {
        organization: world.acme.slug,
        email: user.email,
        role: "member",
      });

      const { refresh_token, scope } = await pair(some.refresh_token);
      assert.equal(scope, "read_user");
      await refused(none.refresh_token);
      await updateMember(world.services, { organization: world.acme.slug, email: user.email, role: "admin" });
      assert.equal((await pair(refresh_token)).scope, "write_clusters read_user");
      await pair(none.refresh_token);
    });
  });

  it("answers 400 unauthorized_client to a client without refresh tokens", async () => {
    const plain = await setUpClient(world);

    await assertOAuthError(refresh(world, plain, first.refresh_token), 400, "unauthorized_client");
  });

  it("lets a client refresh without the device flow", async () => {
    const kept = await setUpClient(world, { refreshTokens: true, deviceFlow: false });

    await assertOAuthError(refresh(world, kept, issueToken("refresh")), 400, "invalid_grant");
  });
});
