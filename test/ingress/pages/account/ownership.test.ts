import assert from "node:assert/strict";
import { it } from "node:test";
import { createOwnAccessToken } from "../../../../shared/accounts/access-tokens.ts";
import { removeMember, updateMember } from "../../../../shared/accounts/members.ts";
import { deactivateUser } from "../../../../shared/accounts/users.ts";
import { newId } from "../../../../shared/ids.ts";
import { disableApplication } from "../../../../shared/oauth/applications.ts";
import { listConnectedApps } from "../../../../shared/oauth/grants.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { get } from "../../../helpers/http.ts";
import { addApplication, startPages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "another user's property", startPages, (pages) => {
  const connect = async () => {
    const codes = await pages.authorize();
    await pages.asAda.post("/oauth/device", { user_code: codes.user_code });
    const form = { decision: "authorize", organization: pages.acme.id };
    await pages.asAda.post(`/oauth/device/${codes.user_code}/review`, form);
    const { access_token } = await pages.poll(codes);
    const [app] = await listConnectedApps(pages.services, pages.ada.id);
    if (!app) throw new Error("not connected");
    return { token: access_token, grantId: app.grant.id, applicationId: app.application.id };
  };
  const ownToken = async () => {
    const id = newId(pages.clock.now());
    const token = await createOwnAccessToken(pages.services, pages.ada.id, {
      id,
      organizationId: pages.acme.id,
      scopes: ["read_user"],
      description: "Ada's",
    });
    return { id, token };
  };
  const works = async (token?: string) => (await get(`${pages.url}/v2/user`, token)).status === 200;

  it("answers 404: grants, applications and tokens", async () => {
    const { token, grantId, applicationId } = await connect();
    const own = await ownToken();
    const grants = `/user/connected-apps/${grantId}`;
    for (const path of [
      grants,
      `${grants}/revoke`,
      `/user/connected-apps/applications/${applicationId}/revoke`,
      `/user/api-access-tokens/${own.id}/revoke`,
    ]) {
      assert.equal((await pages.asAda.get(path)).status, 200, path);
      assert.equal((await pages.asBob.get(path)).status, 404, path);
      if (path !== grants) await pages.asBob.post(path);
    }
    assert.equal((await pages.asBob.post(`/user/api-access-tokens/${own.id}/revoke`)).status, 404);

    assert.ok((await works(token)) && (await works(own.token)));
    for (const path of ["/user/connected-apps", "/user/api-access-tokens"])
      assert.doesNotMatch((await pages.asBob.get(path)).text, /Deploy CLI|Ada's/);
  });

  it("includes application tokens: they are not API access tokens", async () => {
    const { token } = await connect();
    const { db } = pages.services;
    const rows = await db.select().from(db.tables.accessTokens);
    const issued = rows.find(({ grantId, revokedAt }) => grantId !== null && revokedAt === null);
    const path = `/user/api-access-tokens/${issued?.id}/revoke`;

    assert.equal((await pages.asAda.get(path)).status, 404);
    assert.equal((await pages.asAda.post(path)).status, 404);

    assert.ok(await works(token));
    assert.doesNotMatch((await pages.asAda.get("/user/api-access-tokens")).text, /Deploy CLI/);
  });

  it("is unchanged by a form with its id", async () => {
    const own = await ownToken();
    const fields = { id: own.id, organization: pages.acme.id, scopes: "read_builds", description: "Bob's" };

    assert.equal((await pages.asBob.post("/user/api-access-tokens/new", fields)).status, 409);

    assert.ok(await works(own.token));
    assert.match((await pages.asAda.get("/user/api-access-tokens")).text, /Ada&#39;s|Ada's/);
  });

  it("answers 404 when revoked or unknown", async () => {
    const { grantId } = await connect();
    assert.equal((await pages.asAda.post(`/user/connected-apps/${grantId}/revoke`)).status, 303);
    assert.equal((await pages.asAda.get(`/user/connected-apps/${grantId}`)).status, 404);
    // Revocation is idempotent.
    assert.equal((await pages.asAda.post(`/user/connected-apps/${grantId}/revoke`)).status, 303);
    const unused = newId(pages.clock.now());
    for (const id of [unused, unused.toUpperCase(), "1", "..%2f..", "%00"])
      assert.equal((await pages.asAda.get(`/user/connected-apps/${id}`)).status, 404, id);
  });

  it("includes a disabled application's request, shown as expired", async () => {
    await addApplication(pages, { name: "Gone", clientId: "gone" });
    const codes = await pages.authorize({ client_id: "gone" });
    await pages.asAda.post("/oauth/device", { user_code: codes.user_code });
    await disableApplication(pages.services, "gone");

    const path = `/oauth/device/${codes.user_code}/review`;
    const answer = await pages.asAda.post(path, { decision: "authorize", organization: pages.acme.id });

    assert.equal(answer.status, 409);
    assert.match(answer.text, /It has expired/);
  });

  it("includes organizations of an ended membership: nothing is authorized there", async () => {
    const member = { organization: "acme", email: pages.bob.email };
    const codes = await pages.authorize({ scope: "write_clusters" });
    await pages.asBob.post("/oauth/device", { user_code: codes.user_code });
    const decide = () =>
      pages.asBob.post(`/oauth/device/${codes.user_code}/review`, {
        decision: "authorize",
        organization: pages.acme.id,
      });
    const refused = await decide();
    assert.equal(refused.status, 422);
    assert.match(refused.text, /Your role in that organization allows none of the requested scopes/);

    await updateMember(pages.services, { ...member, role: "admin" });
    await removeMember(pages.services, member);

    assert.match((await decide()).text, /Choose the organization/);
    assert.match(
      (await pages.asBob.get(`/oauth/device/${codes.user_code}/review`)).text,
      /belong to no organization/,
    );
    await deactivateUser(pages.services, pages.bob.email);
    assert.equal((await decide()).headers.get("location")?.slice(0, 9), "/sign-in?");
    assert.equal((await pages.poll(codes)).error, "authorization_pending");
  });
});
