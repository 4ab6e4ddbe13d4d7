import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { scopes } from "../../../shared/accounts/scopes.ts";
import { isWellFormedToken } from "../../../shared/crypto/tokens.ts";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { assertOAuthError, authorize, enterCode, openDevices, setUpClient } from "../../helpers/device.ts";
import { setUpOrganization } from "../../helpers/organization.ts";

const settings = {
  AUTH_URL: "https://auth.example.com",
  PUBLIC_URL: "https://www.example.com",
  DEVICE_AUTHORIZATIONS_PER_MINUTE: "1000",
};

describeWorldOn(sqlite, "POST /oauth/device_authorization", withSettings(openDevices, settings), (world) => {
  const ask = (more?: Record<string, string | undefined>, headers?: Record<string, string>) =>
    authorize(world, world.client, more, headers);
  const refused = (scope: string | undefined) => assertOAuthError(ask({ scope }), 400, "invalid_scope");
  /** Returns the request that the user sees. */
  const requested = async (more: Record<string, string>, headers?: Record<string, string>) => {
    const { body } = await ask(more, headers);
    return (await enterCode(world, world.acme.user.id, body.user_code)).code;
  };

  describe("200", () => {
    it("answers exactly both codes, both addresses and the times", async () => {
      const { status, headers, body } = await ask();

      assert.equal(status, 200);
      assert.match(headers.get("content-type") ?? "", /^application\/json\b/);
      const { device_code, user_code, ...rest } = body;
      assert.match(device_code, /^sbdc_[0-9A-Za-z]{49}$/);
      assert.ok(isWellFormedToken("deviceCode", device_code));
      assert.match(user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
      assert.deepEqual(rest, {
        verification_uri: "https://auth.example.com/oauth/device",
        verification_uri_complete: `https://auth.example.com/oauth/device/${user_code}`,
        expires_in: 600,
        interval: 5,
      });
    });

    it("issues new codes for every request", async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => ask()));

      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      for (const name of ["device_code", "user_code"])
        assert.equal(new Set(answers.map(({ body }) => body[name])).size, 50);
    });

    it("accepts all scopes at once", async () => {
      assert.equal(scopes.length, 46);

      const { scopes: kept } = await requested({ scope: scopes.join(" ") });

      assert.deepEqual(kept, scopes);
    });

    it("removes duplicate scopes and extra spaces", async () => {
      const { scopes: kept } = await requested({ scope: "  read_user read_builds   read_user " });

      assert.deepEqual(kept, ["read_user", "read_builds"]);
    });

    it("stores the device's address and at most 500 characters of its user agent", async () => {
      const named = await requested({}, { "User-Agent": "Test CLI/1.0" });
      const long = await requested({}, { "User-Agent": "x".repeat(5000) });

      assert.deepEqual([named.requestIp, named.requestUserAgent], ["127.0.0.1", "Test CLI/1.0"]);
      assert.equal(long.requestUserAgent, "x".repeat(500));
    });
  });

  describe("hints", () => {
    it("preselects the organization of a slug or a UUID; the UUID wins", async () => {
      const other = await setUpOrganization(world, "other");
      const hinted = async (more: Record<string, string>) =>
        (await requested(more)).preselectedOrganizationId;

      assert.equal(await hinted({}), null);
      assert.equal(await hinted({ organization: "acme" }), world.acme.id);
      assert.equal(await hinted({ organization_uuid: other.id }), other.id);
      assert.equal(await hinted({ organization_uuid: other.id.toUpperCase() }), other.id);
      assert.equal(await hinted({ organization: "acme", organization_uuid: other.id }), other.id);
    });

    it("falls back to the slug when the UUID names no organization", async () => {
      const unknown = { organization: "acme", organization_uuid: randomUUID() };

      assert.equal((await requested(unknown)).preselectedOrganizationId, world.acme.id);
    });

    it("ignores an unknown or malformed hint", async () => {
      const odd = [
        "nope",
        "ACME",
        "a\0b",
        "'; drop table users; --",
        "😀",
        "\u202e",
        "x".repeat(20_000),
        "-1",
      ];
      for (const hint of odd) {
        const code = await requested({ organization: hint, organization_uuid: hint });
        assert.equal(code.preselectedOrganizationId, null, JSON.stringify(hint.slice(0, 20)));
      }
    });
  });

  describe("400 invalid_scope", () => {
    it("refuses a request without a scope", async () => {
      for (const scope of [undefined, "", " ", "   "]) await refused(scope);
    });

    it("refuses an unknown scope, even beside a known one", async () => {
      const unknown = [
        "nope",
        "read_user nope",
        "READ_USER",
        "read_user,read_builds",
        "read_user\tread_builds",
      ];
      const odd = [
        "read_user\0",
        "constructor",
        "__proto__",
        "toString",
        "ｒead_user",
        "read_user\u00a0",
        "*",
      ];
      for (const scope of [...unknown, ...odd]) await refused(scope);
    });

    it("refuses tens of thousands of unknown scopes", async () => {
      await refused("x ".repeat(15_000));
    });
  });

  it("answers 400 unauthorized_client to a client that may not use the device flow", async () => {
    const kept = await setUpClient(world, { deviceFlow: false });

    await assertOAuthError(authorize(world, kept), 400, "unauthorized_client");
  });

  it("stores nothing for a refused request", async () => {
    const count = async () =>
      (await world.services.db.select().from(world.services.db.tables.deviceCodes)).length;
    const before = await count();

    await refused("nope");
    await assertOAuthError(ask({ client_id: "nope" }), 401, "invalid_client");

    assert.equal(await count(), before);
  });
});
