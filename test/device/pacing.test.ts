import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, it } from "node:test";
import { expireDeviceCodes } from "../../shared/device/expire.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import {
  approveCode,
  assertOAuthError,
  basic,
  denyCode,
  deviceGrantType,
  openDevices,
  poll,
  postForm,
  setUpClient,
  startDevice,
} from "../helpers/device.ts";

const secondMs = 1000;

const settings = { DEVICE_AUTHORIZATIONS_PER_MINUTE: "1000" };

describeWorldOn(sqlite, "the pace of polls", withSettings(openDevices, settings), (world) => {
  before(() => world.clock.freeze());

  const start = () => startDevice(world, world.client);
  /** Returns the answers; `pending` means authorization_pending. */
  const pollAfter = async (deviceCode: string, ...pausesMs: number[]) => {
    const answers: string[] = [];
    for (const pause of pausesMs) {
      world.clock.advance(pause);
      const { status, body } = await poll(world, world.client, deviceCode);
      assert.equal(status, 400);
      answers.push(body.error.replace("authorization_", ""));
    }
    return answers;
  };

  it("tolerates a poll 500 ms early at an interval of 5 seconds, and not 501", async () => {
    const { deviceCode } = await start();

    assert.deepEqual(await pollAfter(deviceCode, 0, 4500, 4500, 5000), Array(4).fill("pending"));
    assert.deepEqual(await pollAfter(deviceCode, 4499), ["slow_down"]);
  });

  it("adds 5 seconds for each poll that comes too soon, for this and all later ones", async () => {
    const { deviceCode } = await start();

    assert.deepEqual(await pollAfter(deviceCode, 0, 0), ["pending", "slow_down"]);
    assert.deepEqual(await pollAfter(deviceCode, 9000, 9000), ["pending", "pending"]);
    assert.deepEqual(await pollAfter(deviceCode, 8999), ["slow_down"]);
    assert.deepEqual(await pollAfter(deviceCode, 13_500, 13_500), ["pending", "pending"]);
    assert.deepEqual(await pollAfter(deviceCode, 13_499, 17_999), ["slow_down", "slow_down"]);
    assert.deepEqual(await pollAfter(deviceCode, 22_500, 60_000, 22_500), Array(3).fill("pending"));
  });

  it("measures from the previous poll, even if that came too soon", async () => {
    const { deviceCode } = await start();

    const answers = await pollAfter(deviceCode, 0, 3000, 3000, 3000);

    assert.deepEqual(answers, ["pending", "slow_down", "slow_down", "slow_down"]);
  });

  it("keeps every code's own interval", async () => {
    const [fast, slow] = [await start(), await start()];

    assert.deepEqual(await pollAfter(fast.deviceCode, 0, 0, 0), ["pending", "slow_down", "slow_down"]);
    assert.deepEqual(await pollAfter(slow.deviceCode, 0, 5000), ["pending", "pending"]);
  });

  it("answers the decision at once, even to a poll that comes too soon", async () => {
    const [approved, denied, expired] = [await start(), await start(), await start()];
    for (const { deviceCode } of [approved, denied, expired])
      assert.deepEqual(await pollAfter(deviceCode, 0, 0), ["pending", "slow_down"]);
    await approveCode(world, world.acme, approved.userCode);
    await denyCode(world, world.acme, denied.userCode);

    assert.equal((await poll(world, world.client, approved.deviceCode)).status, 200);
    assert.deepEqual(await pollAfter(denied.deviceCode, 0, 0, 0), Array(3).fill("access_denied"));
    assert.deepEqual(await pollAfter(expired.deviceCode, 600_000, 0, 0), Array(3).fill("expired_token"));
  });

  it("does not count requests of an unknown client, of another client, or with empty Basic credentials", async () => {
    const { deviceCode } = await start();
    const other = await setUpClient(world);
    const form = { grant_type: deviceGrantType, device_code: deviceCode };
    assert.deepEqual(await pollAfter(deviceCode, 0), ["pending"]);
    world.clock.advance(5 * secondMs);

    for (let times = 0; times < 3; times++) {
      const tryBasic = postForm(`${world.url}/oauth/token`, form, basic(world.client.clientId, ""));
      await assertOAuthError(tryBasic, 401, "invalid_client");
      await assertOAuthError(poll(world, other, deviceCode), 400, "invalid_grant");
      await assertOAuthError(
        poll(world, world.client, deviceCode, { client_id: undefined }),
        401,
        "invalid_client",
      );
      await assertOAuthError(
        poll(world, world.client, deviceCode, { grant_type: "x" }),
        400,
        "unsupported_grant_type",
      );
    }

    assert.deepEqual(await pollAfter(deviceCode, 0), ["pending"]);
  });

  it("answers slow_down to all but one of simultaneous polls", async () => {
    const { deviceCode } = await start();

    const answers = await Promise.all(
      Array.from({ length: 20 }, () => poll(world, world.client, deviceCode)),
    );

    const errors = answers.map(({ body }) => body.error).sort();
    assert.deepEqual(errors, ["authorization_pending", ...Array(19).fill("slow_down")]);
    assert.deepEqual(await pollAfter(deviceCode, 89_999), ["slow_down"]); // (5 + 19 × 5) s less 10 %
  });

  it("does not depend on the background job that expires codes", async () => {
    const { deviceCode } = await start();
    await pollAfter(deviceCode, 0);
    await expireDeviceCodes(world.services);

    assert.deepEqual(await pollAfter(deviceCode, 4499, 9000), ["slow_down", "pending"]);
  });

  it("tolerates 500 ms at shorter intervals, and a tenth of longer ones", async () => {
    const { pacing, clock } = world.services;
    const isTooSoonAfter = (pauseMs: number) => {
      world.clock.advance(pauseMs);
      return pacing.isTooSoon({ subject, now: clock.now(), intervalMs: 1000, lifetimeMs: 600_000 });
    };
    const subject = randomUUID();

    const answers: boolean[] = [];
    for (const pause of [0, 500, 499, 5400, 5399]) answers.push(await isTooSoonAfter(pause));

    assert.deepEqual(answers, [false, false, true, false, true]);
  });
});
