import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { listConnectedApps } from "../../../shared/oauth/grants.ts";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { refresh, setUpClient, signIn } from "../../helpers/device.ts";
import { type Answer, get, request } from "../../helpers/http.ts";
import { openAcme, setUpOrganization } from "../../helpers/organization.ts";

const graphqlId = (type: string, id: string) => Buffer.from(`${type}---${id}`).toString("base64");
const unauthenticated = "Authentication required. Please supply a valid API Access Token";

const settings = {
  BASE_URL: "https://api.example.com",
  APP_URL: "https://app.example.com",
  SERVICE_NAME: "acme-ci",
};

describeWorldOn(sqlite, "REST operations on the caller", withSettings(openAcme, settings), (world) => {
  before(async () => {
    world.clock.freeze();
    await setUpOrganization(world, "other");
  });

  const at = (path: string, token?: string) => get(world.url + path, token);
  const remove = (token: string) =>
    request(`${world.url}/v2/access-token`, {
      method: "DELETE",
      headers: { Authorization: `Bearer ${token}` },
    });
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

  it("GET /v2/user answers with the user", async () => {
    const { status, body } = await at("/v2/user", await world.acme.token("read_user"));

    assert.equal(status, 200);
    assert.deepEqual(body, {
      id: world.acme.user.id,
      graphql_id: graphqlId("User", world.acme.user.id),
      name: "Ada",
      email: "ada@acme.example.com",
      avatar_url: "https://app.example.com/avatars/A.svg",
      created_at: world.acme.user.createdAt.toISOString(),
    });
  });

  it("GET /v2/access-token answers with the token for any scope", async () => {
    const { token } = await signedIn(world.acme.user, { name: "Deploy CLI", accessTokenMinutes: 60 });
    const now = world.clock.now();

    const { status, body } = await at("/v2/access-token", token);
    const own = await at("/v2/access-token", await world.acme.token("read_builds"));

    assert.equal(status, 200);
    const { uuid, ...rest } = body;
    assert.match(uuid, /^[0-9a-f-]{36}$/);
    assert.deepEqual(rest, {
      scopes: ["read_user", "read_organizations"],
      description: "Deploy CLI",
      created_at: now.toISOString(),
      expires_at: new Date(now.getTime() + 3_600_000).toISOString(),
      user: { name: "Ada", email: "ada@acme.example.com" },
    });
    assert.deepEqual([own.body.scopes, own.body.expires_at], [["read_builds"], null]);
  });

  it("DELETE /v2/access-token answers 204 and ends the token", async () => {
    const token = await world.acme.token("read_user");

    const { status, text } = await remove(token);

    assert.deepEqual([status, text], [204, ""]);
    await ended(token);
    assertUnauthenticated(await remove(token), ', error="invalid_token"');
  });

  for (const refreshTokens of [true, false]) {
    it(`DELETE /v2/access-token ends the grant too, refresh tokens ${refreshTokens ? "on" : "off"}`, async () => {
      const apps = () => listConnectedApps(world.services, world.acme.user.id);
      const before = (await apps()).length;
      const { client, token, refreshToken } = await signedIn(world.acme.user, { refreshTokens });
      assert.equal((await apps()).length, before + 1);

      const { status } = await remove(token);

      assert.equal(status, 204);
      await ended(token);
      assert.equal((await apps()).length, before);
      if (refreshTokens)
        assert.equal((await refresh(world, client, refreshToken)).body.error, "invalid_grant");
    });
  }

  it("GET /v2/organizations answers with the token's organization alone", async () => {
    const { status, headers, body } = await at(
      "/v2/organizations",
      await world.acme.token("read_organizations"),
    );

    assert.equal(status, 200);
    assert.equal(headers.get("link"), null);
    assert.deepEqual(body, [
      {
        id: world.acme.id,
        graphql_id: graphqlId("Organization", world.acme.id),
        url: "https://api.example.com/v2/organizations/acme",
        web_url: "https://app.example.com/organizations/acme",
        name: "acme",
        slug: "acme",
        pipelines_url: "https://api.example.com/v2/organizations/acme/pipelines",
        agents_url: "https://api.example.com/v2/organizations/acme/agents",
        created_at: world.acme.createdAt.toISOString(),
      },
    ]);
  });

  it("GET /v2/organizations answers [] after the first page", async () => {
    const { status, headers, body } = await at(
      "/v2/organizations?page=3&per_page=1",
      await world.acme.token("read_organizations"),
    );

    assert.deepEqual([status, body], [200, []]);
    const url = (page: number) => `<https://api.example.com/v2/organizations?page=${page}&per_page=1>`;
    assert.equal(headers.get("link"), `${url(1)}; rel="first", ${url(1)}; rel="prev"`);
  });

  it("GET /v2/organizations/{org} answers with the organization, 404 for any other", async () => {
    const token = await world.acme.token("read_organizations");
    const [listed] = (await at("/v2/organizations", token)).body;

    const { status, body } = await at("/v2/organizations/acme", token);

    assert.deepEqual([status, body], [200, listed]);
    for (const slug of ["other", "nope", "ACME", "acme%00", "%F0%9F%98%80", world.acme.id]) {
      const elsewhere = await at(`/v2/organizations/${slug}`, token);
      assert.deepEqual([elsewhere.status, elsewhere.body], [404, { message: "No organization found" }], slug);
    }
  });

  describe("403", () => {
    for (const [path, scope] of [
      ["/v2/user", "read_user"],
      ["/v2/organizations", "read_organizations"],
      ["/v2/organizations/acme", "read_organizations"],
    ] as const) {
      it(`names the scope that ${path} needs`, async () => {
        const { status, headers, body } = await at(
          path,
          await world.acme.token("read_builds", "write_clusters"),
        );

        assert.equal(status, 403);
        assert.deepEqual(body, { message: `Your access token doesn't have the ${scope} scope` });
        assert.equal(
          headers.get("www-authenticate"),
          `Bearer realm="acme-ci", error="insufficient_scope", scope="${scope}"`,
        );
      });
    }

    it("is checked after the organization's 404", async () => {
      assert.equal((await at("/v2/organizations/other", await world.acme.token("read_builds"))).status, 404);
    });
  });

  it("answers 405 with Allow, and OPTIONS without a token", async () => {
    const posted = await request(`${world.url}/v2/access-token`, { method: "POST" });
    const preflight = await request(`${world.url}/v2/access-token`, { method: "OPTIONS" });

    assert.deepEqual([posted.status, posted.headers.get("allow")], [405, "GET, HEAD, DELETE"]);
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get("access-control-allow-headers"), "Authorization, Content-Type");
  });
});
