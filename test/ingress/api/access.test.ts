import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { recordUsage } from "../../../shared/accounts/access-tokens.ts";
import { removeMember } from "../../../shared/accounts/members.ts";
import { deactivateUser } from "../../../shared/accounts/users.ts";
import { issueToken } from "../../../shared/crypto/tokens.ts";
import { DatabaseUnavailable } from "../../../shared/db/database.ts";
import { disableApplication, enableApplication } from "../../../shared/oauth/applications.ts";
import { listConnectedApps, revokeGrants } from "../../../shared/oauth/grants.ts";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { setUpClient, signIn } from "../../helpers/device.ts";
import { type Answer, get, request } from "../../helpers/http.ts";
import { addPerson, openAcme } from "../../helpers/organization.ts";

const unauthenticated = "Authentication required. Please supply a valid API Access Token";

const settings = {
  SERVICE_NAME: "acme-ci",
};

describeWorldOn(sqlite, "access to the REST API", withSettings(openAcme, settings), (world) => {
  before(() => world.clock.freeze());

  const at = (path: string, token?: string) => get(world.url + path, token);
  const signedIn = async (
    user: { id: string } = world.acme.user,
    options: Parameters<typeof setUpClient>[1] = {},
  ) => {
    const client = await setUpClient(world, options);
    const body = await signIn(world, client, { id: world.acme.id, user }, "read_user read_organizations");
    return { client, token: body.access_token as string, refreshToken: body.refresh_token as string };
  };

  function assertUnauthenticated({ status, headers, body }: Answer, details: string): void {
    assert.deepEqual([status, body], [401, { message: unauthenticated }]);
    assert.equal(headers.get("www-authenticate"), `Bearer realm="acme-ci"${details}`);
  }
  const ended = async (token: string) => {
    for (const path of ["/v2/user", "/v2/access-token", "/v2/organizations", "/v2/organizations/acme"])
      assertUnauthenticated(await at(path, token), ', error="invalid_token"');
  };

  describe("401", () => {
    it("answers 401 without a token in the Authorization header", async () => {
      const token = await world.acme.token("read_user");
      assertUnauthenticated(await at("/v2/user"), "");
      assertUnauthenticated(await at(`/v2/user?access_token=${token}`), "");
      for (const header of [
        "Bearer",
        "Bearer ",
        `Token ${token}`,
        token,
        `Bearer ${token} x`,
        `Basic ${token}`,
      ]) {
        const answer = await request(`${world.url}/v2/user`, { headers: { Authorization: header } });
        assertUnauthenticated(answer, "");
      }
    });

    it("answers invalid_token for an unknown token and for another kind of token", async () => {
      const kinds = ["access", "refresh", "deviceCode", "clientSecret", "session", "trigger", "job"] as const;
      for (const kind of kinds) await ended(issueToken(kind));
      const { refreshToken } = await signedIn(world.acme.user, { refreshTokens: true });
      await ended(refreshToken);
      await ended("x".repeat(10_000));
    });

    it("is never the answer to a valid token, with the scheme in any case", async () => {
      const token = await world.acme.token("read_user");
      for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR "]) {
        const headers = { Authorization: `${scheme} ${token}` };
        assert.equal((await request(`${world.url}/v2/user`, { headers })).status, 200);
      }
    });

    it("is the answer exactly while the application is disabled", async () => {
      const { client, token } = await signedIn();

      await disableApplication(world.services, client.clientId);
      await ended(token);
      await enableApplication(world.services, client.clientId);

      assert.equal((await at("/v2/user", token)).status, 200);
    });

    it("is the answer once the user has revoked the grant, or all grants of the application", async () => {
      const [one, another, third] = [await signedIn(), await signedIn(), await signedIn()];
      const again = await signIn(world, third.client, world.acme);
      const apps = await listConnectedApps(world.services, world.acme.user.id);
      const grantOf = (clientId: string) => apps.find(({ application }) => application.clientId === clientId);

      await revokeGrants(world.services, world.acme.user.id, {
        id: grantOf(one.client.clientId)?.grant.id ?? "",
      });
      await revokeGrants(world.services, world.acme.user.id, { applicationId: third.client.id });

      await ended(one.token);
      await ended(third.token);
      await ended(again.access_token);
      assert.equal((await at("/v2/user", another.token)).status, 200);
    });

    it("is the answer once the member was removed, or the user deactivated", async () => {
      const [removed, gone] = [await addPerson(world, world.acme), await addPerson(world, world.acme)];
      const [ofRemoved, ofGone] = [await signedIn(removed), await signedIn(gone)];

      await removeMember(world.services, { organization: "acme", email: removed.email });
      await deactivateUser(world.services, gone.email);

      await ended(ofRemoved.token);
      await ended(ofGone.token);
    });
  });

  describe("last used", () => {
    it("is recorded for the grant with time, address and user agent by a worker", async () => {
      const user = await addPerson(world, world.acme);
      const { token } = await signedIn(user);
      const useWith = (userAgent: string) =>
        request(`${world.url}/v2/user`, {
          headers: { Authorization: `Bearer ${token}`, "User-Agent": userAgent },
        });
      const recorded = async () => {
        await world.services.usage.flush();
        await recordUsage(world.services);
        const [app] = await listConnectedApps(world.services, user.id);
        return [app?.grant.lastUsedAt, app?.grant.lastIp, app?.grant.lastUserAgent];
      };
      assert.deepEqual(await recorded(), [null, null, null]);

      await useWith("First/1.0");
      world.clock.advance(1000);
      await useWith("Second/1.0");
      assert.deepEqual(await recorded(), [world.clock.now(), "127.0.0.1", "Second/1.0"]);

      world.clock.advance(1000);
      await useWith("x".repeat(2000));
      assert.deepEqual(await recorded(), [world.clock.now(), "127.0.0.1", "x".repeat(500)]);
    });

    it("waits in Redis while the database is away", async () => {
      const user = await addPerson(world, world.acme);
      const { token } = await signedIn(user);
      const { db, usage } = world.services;
      const transaction = () => Promise.reject(new DatabaseUnavailable("away"));
      await at("/v2/user", token);
      await usage.flush();

      await assert.rejects(
        recordUsage({ ...world.services, db: { ...db, transaction } }),
        DatabaseUnavailable,
      );
      await recordUsage(world.services);

      const [app] = await listConnectedApps(world.services, user.id);
      assert.deepEqual(app?.grant.lastUsedAt, world.clock.now());
    });

    it("is not recorded for a refused request, and never replaced by an older time", async () => {
      const user = await addPerson(world, world.acme);
      const { client, token } = await signedIn(user);
      const { usage } = world.services;
      const [app] = await listConnectedApps(world.services, user.id);
      const lastUsedAt = async () => {
        await usage.flush();
        await recordUsage(world.services);
        return (await listConnectedApps(world.services, user.id))[0]?.grant.lastUsedAt;
      };
      await disableApplication(world.services, client.clientId);
      await ended(token);
      assert.equal(await lastUsedAt(), null);

      await enableApplication(world.services, client.clientId);
      const { body } = await at("/v2/access-token", token);
      const now = world.clock.now();
      assert.deepEqual(await lastUsedAt(), now);
      usage.record(body.uuid, { at: new Date(now.getTime() - 1), ip: "192.0.2.1", userAgent: null });

      assert.deepEqual(await lastUsedAt(), now);
      assert.equal(app?.grant.lastUsedAt, null);
    });
  });
});
