import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { expireDeviceCodes } from "../../shared/device/expire.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import {
  allGrants,
  approveCode,
  approveEntered,
  assertOAuthError,
  denyCode,
  enterCode,
  openDevices,
  poll,
  setUpClient,
  startDevice,
} from "../helpers/device.ts";

const secondMs = 1000;
const hourMs = 3600 * secondMs;
const lifetimeMs = 600 * secondMs;

const settings = { DEVICE_AUTHORIZATIONS_PER_MINUTE: "1000" };

describeWorldOn(sqlite, "the states of a device code", withSettings(openDevices, settings), (world) => {
  before(() => world.clock.freeze());

  const start = () => startDevice(world, world.client);
  const refused = (deviceCode: string, error: string, as = world.client) =>
    assertOAuthError(poll(world, as, deviceCode), 400, error);

  it("pending: a poll before the user has acted answers authorization_pending", async () => {
    const { deviceCode } = await start();

    const { body } = await refused(deviceCode, "authorization_pending");

    assert.deepEqual(body, {
      error: "authorization_pending",
      error_description: "The user has not decided yet",
    });
  });

  it("pending → denied: polls return access_denied after the user denies", async () => {
    const { deviceCode, userCode } = await start();

    assert.ok(await denyCode(world, world.acme, userCode));

    for (let times = 0; times < 3; times++) {
      const { body } = await refused(deviceCode, "access_denied");
      assert.equal(body.error_description, "The user denied the request");
    }
  });

  it("pending → expired: polls return expired_token once 600 seconds are over", async () => {
    const { deviceCode } = await start();

    world.clock.advance(lifetimeMs - 1);
    await refused(deviceCode, "authorization_pending");
    world.clock.advance(1);

    for (let times = 0; times < 3; times++) await refused(deviceCode, "expired_token");
    await expireDeviceCodes(world.services);
    await refused(deviceCode, "expired_token");
  });

  it("used: polls answer invalid_grant, and the grant stays", async () => {
    const { deviceCode, userCode } = await start();
    await approveCode(world, world.acme, userCode);
    const { body } = await poll(world, world.client, deviceCode);
    const before = await allGrants(world);

    for (let times = 0; times < 3; times++) await refused(deviceCode, "invalid_grant");

    assert.deepEqual(await allGrants(world), before);
    const own = await fetch(`${world.url}/v2/user`, {
      headers: { Authorization: `Bearer ${body.access_token}` },
    });
    assert.equal(own.status, 200);
  });

  describe("the code of another client", () => {
    it("answers invalid_grant and changes nothing in any state", async () => {
      const other = await setUpClient(world);
      const pending = await start();
      const approved = await start();
      const denied = await start();
      await approveCode(world, world.acme, approved.userCode);
      await denyCode(world, world.acme, denied.userCode);

      for (const { deviceCode } of [pending, approved, denied])
        for (let times = 0; times < 2; times++) await refused(deviceCode, "invalid_grant", other);

      await refused(pending.deviceCode, "authorization_pending");
      assert.equal((await poll(world, world.client, approved.deviceCode)).status, 200);
      await refused(denied.deviceCode, "access_denied");
    });
  });

  describe("at the end of the 600 seconds", () => {
    it("accepts neither the code nor approval nor denial", async () => {
      const { deviceCode, userCode } = await start();
      const { code } = await enterCode(world, world.acme.user.id, userCode);

      world.clock.advance(lifetimeMs);

      assert.equal(await approveEntered(world, world.acme, code), false);
      await assert.rejects(denyCode(world, world.acme, userCode), /can be entered/);
      await refused(deviceCode, "expired_token");
    });

    it("keeps an approval of the last millisecond redeemable for 60 more seconds", async () => {
      const [inTime, late] = [await start(), await start()];
      const first = await enterCode(world, world.acme.user.id, inTime.userCode);
      const second = await enterCode(world, world.acme.user.id, late.userCode);
      world.clock.advance(lifetimeMs - 1);
      assert.ok(await approveEntered(world, world.acme, first.code));
      assert.ok(await approveEntered(world, world.acme, second.code));

      world.clock.advance(60 * secondMs);
      await expireDeviceCodes(world.services);
      const { status } = await poll(world, world.client, inTime.deviceCode);
      world.clock.advance(1);

      assert.equal(status, 200);
      await refused(late.deviceCode, "expired_token");
      await expireDeviceCodes(world.services);
      await refused(late.deviceCode, "expired_token");
    });

    it("a denied code stays access_denied", async () => {
      const { deviceCode, userCode } = await start();
      await denyCode(world, world.acme, userCode);

      world.clock.advance(lifetimeMs + hourMs);
      await expireDeviceCodes(world.services);

      await refused(deviceCode, "access_denied");
    });
  });

  for (const swept of [true, false]) {
    describe(`24 hours after the end, ${swept ? "swept" : "not swept"}`, () => {
      it("purges the code to the millisecond: every poll answers invalid_grant", async () => {
        const sweep = async () => swept && (await expireDeviceCodes(world.services));
        const [expired, denied, approved, used] = [
          await start(),
          await start(),
          await start(),
          await start(),
        ];
        await denyCode(world, world.acme, denied.userCode);
        await approveCode(world, world.acme, approved.userCode);
        await approveCode(world, world.acme, used.userCode);
        await poll(world, world.client, used.deviceCode);

        world.clock.advance(lifetimeMs + 24 * hourMs - 1);
        await sweep();
        await refused(expired.deviceCode, "expired_token");
        await refused(denied.deviceCode, "access_denied");
        await refused(approved.deviceCode, "expired_token");
        await refused(used.deviceCode, "invalid_grant");
        world.clock.advance(1);
        await sweep();

        for (const { deviceCode } of [expired, denied, approved, used])
          await refused(deviceCode, "invalid_grant");
      });
    });
  }
});
