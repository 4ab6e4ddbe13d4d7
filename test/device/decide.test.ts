import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createCipher } from "../../shared/crypto/cipher.ts";
import { hashToken, issueToken } from "../../shared/crypto/tokens.ts";
import { isUniqueViolation } from "../../shared/db/database.ts";
import { deny, enterUserCode, findDeviceRequest } from "../../shared/device/decide.ts";
import { insertPending } from "../../shared/device/store.ts";
import { readUserCode, showUserCode } from "../../shared/device/user-code.ts";
import { newId } from "../../shared/ids.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import { enterCode, openDevices, startDevice } from "../helpers/device.ts";
import { secretKey } from "../helpers/world.ts";

describe("a typed user code", () => {
  it("is accepted in any case and with any separators", () => {
    for (const text of [
      "BCDF-GHJK",
      "bcdfghjk",
      " b c d f g h j k ",
      "BCDF–GHJK",
      "bcdf\u00a0ghjk\n",
      "aBCDF-GHJKe1",
    ])
      assert.equal(readUserCode(text), "BCDFGHJK", text);
    assert.equal(showUserCode("BCDFGHJK"), "BCDF-GHJK");
  });

  it("is refused unless it has eight letters of the alphabet", () => {
    const odd = ["\0", "😀".repeat(8), "АВСDЕFGН", "B".repeat(1_000_000)];
    for (const text of ["", "BCDF-GHJ", "BCDF-GHJKL", "AEIO-UYAE", "12345678", ...odd])
      assert.equal(readUserCode(text), undefined, text.slice(0, 20));
  });
});

const settings = { DEVICE_AUTHORIZATIONS_PER_MINUTE: "1000" };

describeWorldOn(sqlite, "deciding on a device's request", withSettings(openDevices, settings), (world) => {
  before(() => world.clock.freeze());

  const start = async () => {
    const { userCode } = await startDevice(world, world.client);
    return { userCode, typed: userCode.replace("-", "") };
  };

  it("never issues a user code that is still pending for another device, and shows the newest request", async () => {
    const { userCode, typed } = await start();
    const { code } = await enterCode(world, world.acme.user.id, userCode);
    const again = {
      ...code,
      id: newId(new Date(world.clock.now().getTime() + 1)),
      deviceCodeHash: hashToken(issueToken("deviceCode")),
    };
    const insert = () => world.services.db.transaction((tx) => insertPending(tx, [again]));

    await assert.rejects(insert(), isUniqueViolation);
    await deny(world.services, code.id, world.acme.user.id);
    await insert();
    await enterCode(world, world.acme.user.id, userCode);

    const seen = await findDeviceRequest(world.services, { userId: world.acme.user.id, userCode: typed });
    assert.deepEqual([seen?.code.id, seen?.state], [again.id, "pending"]);
  });

  it("finds codes issued under the previous SECRET_KEY", async () => {
    const { typed } = await start();
    const cipher = createCipher("another key that is at least 32 characters", secretKey);
    const claim = { userId: world.acme.user.id, userCode: typed };
    const lost = createCipher("another key that is at least 32 characters");

    assert.equal(await enterUserCode({ ...world.services, cipher: lost }, claim, false), false);
    assert.ok(await enterUserCode({ ...world.services, cipher }, claim, false));
    assert.ok(await findDeviceRequest({ ...world.services, cipher }, claim));
  });
});
