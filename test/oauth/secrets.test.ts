import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { recordUsage } from "../../shared/accounts/access-tokens.ts";
import { createUser } from "../../shared/accounts/users.ts";
import type { Tables } from "../../shared/db/schema.ts";
import { rotateSecret } from "../../shared/oauth/applications.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import {
  approveCode,
  authorize,
  basic,
  denyCode,
  deviceGrantType,
  poll,
  postForm,
  refresh,
  setUpClient,
  startDevice,
} from "../helpers/device.ts";
import { get, request } from "../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";

describeOnBothDatabases("the secrets of a sign-in", (database) => {
  let world: World;
  let acme: TestOrganization;
  /** Names identify secrets in failures. */
  const secrets: [name: string, secret: string][] = [];

  before(async () => {
    secrets.length = 0;
    world = await startWorld(database, { LOG_LEVEL: "trace" });
    acme = await setUpOrganization(world);
    await signInAndOut();
    await goWrong();
    await world.services.usage.flush();
    await recordUsage(world.services);
  });
  after(() => world.close());

  const learn = (name: string, secret: string) => {
    assert.ok(secret.length >= 8, name);
    secrets.push([name, secret]);
    return secret;
  };

  async function signInAndOut(): Promise<void> {
    const password = learn("password", "a password of the test only");
    const user = await createUser(world.services, {
      email: "grace@example.com",
      name: "Grace",
      password,
      organization: acme.slug,
      role: "admin",
    });
    const client = await setUpClient(world, { confidential: true, refreshTokens: true });
    learn("client secret", client.secret);
    const { deviceCode, userCode } = await startDevice(world, client);
    learn("device code", deviceCode);
    learn("user code", userCode);
    learn("user code without its hyphen", userCode.replace("-", ""));
    await poll(world, client, deviceCode);
    await poll(world, client, deviceCode);
    await approveCode(world, { id: acme.id, user }, userCode);
    const first = (await poll(world, client, deviceCode)).body;
    learn("access token", first.access_token);
    learn("refresh token", first.refresh_token);
    const second = (await refresh(world, client, first.refresh_token)).body;
    learn("next access token", second.access_token);
    learn("next refresh token", second.refresh_token);
    await get(`${world.url}/v2/user`, second.access_token);
    await postForm(`${world.url}/oauth/introspect`, { ...client.credentials, token: second.access_token });
    learn("next client secret", await rotateSecret(world.services, client.clientId));
    await poll(world, client, deviceCode);
    const open = await setUpClient(world);
    await postForm(`${world.url}/oauth/revoke`, { ...open.credentials, token: second.refresh_token });
    world.clock.advance(60_000);
    await refresh(world, client, first.refresh_token);
  }

  /** Sends secrets in wrong places. */
  async function goWrong(): Promise<void> {
    const client = await setUpClient(world, { confidential: true });
    learn("other client secret", client.secret);
    const { deviceCode, userCode } = await startDevice(world, client);
    learn("other device code", deviceCode);
    learn("other user code", userCode);
    await denyCode(world, acme, userCode);
    const typed = learn("what somebody typed as a secret", "hunter2-hunter2");
    await poll(world, client, deviceCode, { client_secret: typed });
    await postForm(`${world.url}/oauth/token`, { grant_type: typed }, basic(client.clientId, client.secret));
    await authorize(world, client, { scope: typed, organization: typed });
    await request(`${world.url}/oauth/token?device_code=${deviceCode}&client_secret=${client.secret}`);
    await postForm(`${world.url}/oauth/token?grant_type=${deviceGrantType}&device_code=${deviceCode}`, {});
    await request(`${world.url}/oauth/device/${userCode}`);
    await request(`${world.url}/oauth/device/${userCode}/review`, { method: "POST" });
    await request(`${world.url}/oauth/token/${deviceCode}`);
    await request(`${world.url}/v2/user?access_token=${deviceCode}`);
    await get(`${world.url}/v2/user`, deviceCode);
  }

  function assertInNone(what: string, texts: string[]): void {
    for (const [name, secret] of secrets) {
      const guilty = texts.filter((text) => text.includes(secret));
      assert.deepEqual(guilty, [], `the ${name} is in ${what}`);
    }
  }

  it("appear in no log line", () => {
    assert.ok(world.logged.length > 20, String(world.logged.length));
    assert.ok(world.logged.some((line) => line.includes('"/oauth/device/[redacted]"')));

    assertInNone("a log line", world.logged);
  });

  it("appear in no database row", async () => {
    const { db } = world.services;
    const tables = Object.entries(db.tables) as [string, Tables[keyof Tables]][];
    assert.ok(tables.length > 15);
    let filled = 0;
    for (const [name, table] of tables) {
      const rows = (await db.select().from(table)).map((row) => JSON.stringify(row));
      assertInNone(name, rows);
      if (rows.length > 0) filled++;
    }
    assert.ok(filled > 8);
  });
});
