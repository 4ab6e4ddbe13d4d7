import assert from "node:assert/strict";
import { before, it } from "node:test";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import {
  approveCode,
  assertLimited,
  assertOAuthError,
  authorize,
  poll,
  postForm,
  refresh,
  setUpClient,
  startDevice,
} from "../../helpers/device.ts";
import { get } from "../../helpers/http.ts";
import { openAcme } from "../../helpers/organization.ts";

const open = withSettings(openAcme, {
  REDIS_URL: "redis://127.0.0.1:1",
  CLIENT_FAILURES_PER_MINUTE: "2",
  DEVICE_AUTHORIZATIONS_PER_MINUTE: "2",
});

describeWorldOn(sqlite, "the OAuth endpoints while Redis is unavailable", open, (world) => {
  before(() => world.clock.freeze());

  it("pace polls in memory, and sign in, refresh and revoke as usual", async () => {
    const client = await setUpClient(world, { refreshTokens: true });
    const { deviceCode, userCode } = await startDevice(world, client);
    const pollAfter = async (...pausesMs: number[]) => {
      const errors: string[] = [];
      for (const pause of pausesMs) {
        world.clock.advance(pause);
        errors.push((await poll(world, client, deviceCode)).body.error.replace("authorization_", ""));
      }
      return errors;
    };

    assert.deepEqual(await pollAfter(0, 4500, 5000), ["pending", "pending", "pending"]);
    assert.deepEqual(await pollAfter(4499, 9000, 8999), ["slow_down", "pending", "slow_down"]);
    assert.deepEqual(await pollAfter(13_500, 13_499, 18_000), ["pending", "slow_down", "pending"]);
    await approveCode(world, world.acme, userCode);
    const first = await poll(world, client, deviceCode);
    const second = await refresh(world, client, first.body.refresh_token);
    assert.deepEqual([first.status, second.status], [200, 200]);
    const revocation = { ...client.credentials, token: second.body.refresh_token };
    assert.equal((await postForm(`${world.url}/oauth/revoke`, revocation)).status, 200);
    assert.equal((await get(`${world.url}/v2/user`, second.body.access_token)).status, 401);
    world.clock.advance(61_000);
  });

  it("count failed client authentications in memory for a minute", async () => {
    const { clientId } = await setUpClient(world, { confidential: true });
    const attempt = () => postForm(`${world.url}/oauth/token`, { client_id: clientId, client_secret: "x" });

    for (let times = 0; times < 2; times++) await assertOAuthError(attempt(), 401, "invalid_client");
    await assertLimited(attempt(), "slow_down");
    world.clock.advance(61_000);

    await assertOAuthError(attempt(), 401, "invalid_client");
  });

  it("count device codes in memory for a minute", async () => {
    const client = await setUpClient(world);

    for (let times = 0; times < 2; times++) assert.equal((await authorize(world, client)).status, 200);
    await assertLimited(authorize(world, client), "server_error");
    world.clock.advance(61_000);

    assert.equal((await authorize(world, client)).status, 200);
  });
});
