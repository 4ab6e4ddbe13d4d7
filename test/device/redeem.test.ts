import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { addMember, removeMember, updateMember } from "../../shared/accounts/members.ts";
import { scopes } from "../../shared/accounts/scopes.ts";
import { deactivateUser } from "../../shared/accounts/users.ts";
import { listConnectedApps } from "../../shared/oauth/grants.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import {
  allGrants,
  approveCode,
  assertOAuthError,
  openDevices,
  poll,
  setUpClient,
  signIn,
  startDevice,
} from "../helpers/device.ts";
import { get } from "../helpers/http.ts";
import { addPerson, setUpOrganization } from "../helpers/organization.ts";

const hourMs = 3_600_000;

const settings = { DEVICE_AUTHORIZATIONS_PER_MINUTE: "1000" };

describeWorld("POST /oauth/token, device grant", withSettings(openDevices, settings), (world) => {
  before(() => world.clock.freeze());

  const refused = (deviceCode: string, error: string) =>
    assertOAuthError(poll(world, world.client, deviceCode), 400, error);
  const statusOf = async (token: string) => (await get(`${world.url}/v2/access-token`, token)).status;
  const approved = async (
    scope = "read_user",
    decider: { id: string; user: { id: string } } = world.acme,
  ) => {
    const device = await startDevice(world, world.client, { scope });
    assert.ok(await approveCode(world, decider, device.userCode));
    return device;
  };
  const newMember = (role?: "admin" | "member") => addPerson(world, world.acme, role);

  describe("200", () => {
    it("omits expiry and refresh token if the application has neither", async () => {
      const body = await signIn(world, world.client, world.acme, "read_user read_builds");

      assert.deepEqual(Object.keys(body), ["access_token", "token_type", "scope"]);
      assert.deepEqual([body.token_type, body.scope], ["Bearer", "read_user read_builds"]);
      world.clock.advance(100 * 365 * 24 * hourMs);
      assert.equal(await statusOf(body.access_token), 200);
      world.clock.advance(-100 * 365 * 24 * hourMs);
    });

    it("answers expires_in, and the token expires to the millisecond", async () => {
      const expiring = await setUpClient(world, { accessTokenMinutes: 2 * 60 });

      const body = await signIn(world, expiring, world.acme);

      assert.deepEqual(Object.keys(body), ["access_token", "token_type", "expires_in", "scope"]);
      assert.equal(body.expires_in, 7200);
      world.clock.advance(2 * hourMs - 1);
      assert.equal(await statusOf(body.access_token), 200);
      world.clock.advance(1);
      assert.equal(await statusOf(body.access_token), 401);
    });

    it("answers the maximum expiry, a hundred years, as a whole number", async () => {
      const lasting = await setUpClient(world, { accessTokenMinutes: 876_000 * 60 });

      const body = await signIn(world, lasting, world.acme);

      assert.equal(body.expires_in, 3_153_600_000);
      assert.equal(await statusOf(body.access_token), 200);
    });

    it("answers a refresh token and an hour of expiry if the application refreshes", async () => {
      const refreshing = await setUpClient(world, { refreshTokens: true });
      const short = await setUpClient(world, { refreshTokens: true, accessTokenMinutes: 5 });

      const body = await signIn(world, refreshing, world.acme);

      assert.deepEqual(Object.keys(body), [
        "access_token",
        "token_type",
        "expires_in",
        "refresh_token",
        "scope",
      ]);
      assert.equal(body.expires_in, 3600);
      assert.match(body.refresh_token, /^sbrt_[0-9A-Za-z]{49}$/);
      assert.equal((await signIn(world, short, world.acme)).expires_in, 300);
    });

    it("ignores a scope sent along with the poll, as some clients do", async () => {
      const { deviceCode } = await approved("read_user");

      const { status, body } = await poll(world, world.client, deviceCode, { scope: "write_builds nope" });

      assert.deepEqual([status, body.scope], [200, "read_user"]);
    });

    it("grants all scopes to an admin, and the member scopes to a member", async () => {
      const admin = await newMember("admin");
      const all = scopes.join(" ");

      const ofAdmin = await signIn(world, world.client, { id: world.acme.id, user: admin }, all);
      const ofMember = await signIn(world, world.client, world.acme, all);

      const beyondMembers = [
        "clusters",
        "organizations",
        "organization_settings",
        "organization_invitations",
        "organization_repository_connections",
      ];
      const dropped = [...beyondMembers, "notification_services", "teams"].map((name) => `write_${name}`);
      assert.equal(ofAdmin.scope, all);
      assert.equal(ofMember.scope, scopes.filter((scope) => !dropped.includes(scope)).join(" "));
      const { body } = await get(`${world.url}/v2/access-token`, ofMember.access_token);
      assert.equal(body.scopes.join(" "), ofMember.scope);
    });

    it("adds the application to the user's authorized applications", async () => {
      const user = await newMember();

      await signIn(world, world.client, { id: world.acme.id, user }, "read_user");
      await signIn(world, world.client, { id: world.acme.id, user }, "read_user");

      const apps = await listConnectedApps(world.services, user.id);
      assert.equal(apps.length, 2, "each approval is an entry");
      const [{ grant, application, organization, expiresAt }] = apps as [(typeof apps)[number]];
      assert.deepEqual(
        [application.clientId, organization.slug, expiresAt, grant.scopes],
        [world.client.clientId, "acme", "never", ["read_user"]],
      );
      assert.deepEqual([grant.approvedIp, grant.approvedUserAgent], ["192.0.2.7", "Test Browser"]);
      assert.deepEqual([grant.lastUsedAt, grant.lastIp, grant.lastUserAgent], [null, null, null]);
    });
  });

  describe("changes since the approval", () => {
    it("answers access_denied, now and later, once the user is no longer a member", async () => {
      const user = await newMember();
      const membership = { organization: world.acme.slug, email: user.email, role: "member" as const };
      const { deviceCode } = await approved("read_user", { id: world.acme.id, user });
      const before = (await allGrants(world)).length;

      await removeMember(world.services, membership);
      const first = await refused(deviceCode, "access_denied");
      await addMember(world.services, membership);

      const later = await refused(deviceCode, "access_denied");
      for (const { body } of [first, later])
        assert.match(body.error_description, /approved the request, but access was withdrawn/);
      assert.equal((await allGrants(world)).length, before);
    });

    it("answers access_denied when the user is deactivated", async () => {
      const user = await newMember();
      const { deviceCode } = await approved("read_user", { id: world.acme.id, user });

      await deactivateUser(world.services, user.email);

      await refused(deviceCode, "access_denied");
    });

    it("grants the scopes that the user still may have, and denies if none is left", async () => {
      const user = await newMember("admin");
      const some = await approved("write_clusters read_clusters", { id: world.acme.id, user });
      const none = await approved("write_clusters write_teams", { id: world.acme.id, user });

      await updateMember(world.services, {
        organization: world.acme.slug,
        email: user.email,
        role: "member",
      });

      assert.equal((await poll(world, world.client, some.deviceCode)).body.scope, "read_clusters");
      await refused(none.deviceCode, "access_denied");
    });

    it("does not grant more than was approved when the user has become an admin", async () => {
      const user = await newMember();
      const { deviceCode } = await approved("write_clusters read_clusters", { id: world.acme.id, user });

      await updateMember(world.services, { organization: world.acme.slug, email: user.email, role: "admin" });

      assert.equal((await poll(world, world.client, deviceCode)).body.scope, "read_clusters");
    });
  });

  describe("a user who loses access", () => {
    it("loses grants and tokens with the membership, in that organization only", async () => {
      const user = await newMember();
      const beta = await setUpOrganization(world, "beta");
      await addMember(world.services, { organization: "beta", email: user.email, role: "member" });
      const here = await signIn(world, world.client, { id: world.acme.id, user });
      const there = await signIn(world, world.client, { id: beta.id, user });

      await removeMember(world.services, { organization: world.acme.slug, email: user.email });

      assert.deepEqual([await statusOf(here.access_token), await statusOf(there.access_token)], [401, 200]);
      const apps = await listConnectedApps(world.services, user.id);
      assert.deepEqual(
        apps.map(({ organization }) => organization.slug),
        ["beta"],
      );
      await addMember(world.services, { organization: world.acme.slug, email: user.email, role: "member" });
      assert.equal(await statusOf(here.access_token), 401);
    });
  });

  it("repeats no code in the answer to a refused poll", async () => {
    const { deviceCode } = await startDevice(world, world.client);

    for (const error of ["authorization_pending", "slow_down"]) {
      const { text } = await refused(deviceCode, error);
      assert.ok(!text.includes(deviceCode.slice(5, 15)));
    }
  });
});
