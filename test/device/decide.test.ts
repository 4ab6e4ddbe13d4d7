import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { addMember } from "../../shared/accounts/members.ts";
import { createCipher } from "../../shared/crypto/cipher.ts";
import { hashToken, issueToken } from "../../shared/crypto/tokens.ts";
import { isUniqueViolation } from "../../shared/db/database.ts";
import {
  approve,
  claimUserCode,
  deny,
  findDeviceRequest,
  listChoices,
  release,
} from "../../shared/device/decide.ts";
import { insertPending } from "../../shared/device/store.ts";
import { readUserCode, showUserCode } from "../../shared/device/user-code.ts";
import { newId } from "../../shared/ids.ts";
import { disableApplication } from "../../shared/oauth/applications.ts";
import { Refusal } from "../../shared/refusal.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import {
  approveClaimed,
  approveCode,
  assertOAuthError,
  denyCode,
  enterCode,
  openDevices,
  poll,
  setUpClient,
  startDevice,
} from "../helpers/device.ts";
import { addPerson, setUpOrganization } from "../helpers/organization.ts";
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
  let other: { id: string };

  before(async () => {
    world.clock.freeze();
    other = await addPerson(world, world.acme, "admin");
  });

  const start = async (scope = "read_user") => {
    const device = await startDevice(world, world.client, { scope });
    return { ...device, typed: device.userCode.replace("-", "") };
  };
  const claims = (userId: string, userCode: string) =>
    claimUserCode(world.services, { userId, userCode }, false);
  const sees = (userId: string, userCode: string) => findDeviceRequest(world.services, { userId, userCode });
  const approval = { ip: "192.0.2.7", userAgent: null };

  it("shows the request only to the user who entered its code", async () => {
    const { typed } = await start();
    assert.equal(await sees(world.acme.user.id, typed), undefined);

    assert.ok(await claims(world.acme.user.id, typed));

    const seen = await sees(world.acme.user.id, typed);
    assert.deepEqual([seen?.application.clientId, seen?.state], [world.client.clientId, "pending"]);
    assert.equal(await sees(other.id, typed), undefined);
  });

  it("lets only the same user enter the code again", async () => {
    const { typed } = await start();

    assert.ok(await claims(world.acme.user.id, typed));
    assert.ok(await claims(world.acme.user.id, typed));
    assert.equal(await claims(other.id, typed), false);
    assert.equal(await claims(other.id, "BBBBBBBB"), false);
  });

  it("lets only the user who entered the code approve, deny or release it", async () => {
    const { deviceCode, userCode, typed } = await start();
    const { code } = await enterCode(world, world.acme.user.id, userCode);

    assert.equal(await approveClaimed(world, { id: world.acme.id, user: other }, code), false);
    assert.equal(await deny(world.services, code.id, other.id), false);
    assert.equal(await release(world.services, code.id, other.id), false);

    await assertOAuthError(poll(world, world.client, deviceCode), 400, "authorization_pending");
    assert.equal((await sees(world.acme.user.id, typed))?.state, "pending");
  });

  it("lets another user enter a code that was released", async () => {
    const { userCode, typed } = await start();
    const { code } = await enterCode(world, world.acme.user.id, userCode);

    assert.ok(await release(world.services, code.id, world.acme.user.id));

    assert.equal(await sees(world.acme.user.id, typed), undefined);
    assert.equal(await approveClaimed(world, world.acme, code), false);
    assert.ok(await claims(other.id, typed));
    assert.equal(await claims(world.acme.user.id, typed), false);
  });

  it("refuses to decide or enter a code that was approved, denied or used", async () => {
    const [approved, denied, used] = [await start(), await start(), await start()];
    await approveCode(world, world.acme, approved.userCode);
    await denyCode(world, world.acme, denied.userCode);
    await approveCode(world, world.acme, used.userCode);
    await poll(world, world.client, used.deviceCode);

    for (const { typed } of [approved, denied, used]) {
      const seen = await sees(world.acme.user.id, typed);
      assert.ok(seen);
      assert.equal(await approveClaimed(world, world.acme, seen.code), false);
      assert.equal(await deny(world.services, seen.code.id, world.acme.user.id), false);
      assert.equal(await release(world.services, seen.code.id, world.acme.user.id), false);
      assert.equal(await claims(world.acme.user.id, typed), false);
    }
    assert.equal((await sees(world.acme.user.id, approved.typed))?.state, "approved");
    assert.equal((await sees(world.acme.user.id, denied.typed))?.state, "denied");
    assert.equal((await sees(world.acme.user.id, used.typed))?.state, "used");
  });

  it("refuses approval in an organization without membership", async () => {
    const beta = await setUpOrganization(world, "beta");
    const { deviceCode, userCode } = await start();
    const { code } = await enterCode(world, world.acme.user.id, userCode);

    await assert.rejects(
      approve(world.services, { code, userId: world.acme.user.id }, { organizationId: beta.id, ...approval }),
      (error) => error instanceof Refusal && error.status === 422 && /not a member/.test(error.message),
    );
    await assertOAuthError(poll(world, world.client, deviceCode), 400, "authorization_pending");
  });

  it("lists granted and dropped scopes per organization, and refuses an empty grant", async () => {
    const gamma = await setUpOrganization(world, "gamma");
    await addMember(world.services, { organization: "gamma", email: world.acme.user.email, role: "admin" });
    const asked = ["write_clusters", "write_teams"];

    const choices = await listChoices(world.services, world.acme.user.id, asked);

    assert.deepEqual(
      choices.map(({ organization, granted, dropped }) => [organization.slug, granted, dropped]),
      [
        ["acme", [], asked],
        ["gamma", asked, []],
      ],
    );
    const { deviceCode, userCode } = await start(asked.join(" "));
    await assert.rejects(approveCode(world, world.acme, userCode), /allows none/);
    assert.ok(
      await approveCode(world, { id: gamma.id, user: world.acme.user }, userCode),
      "elsewhere it can be approved",
    );
    assert.equal((await poll(world, world.client, deviceCode)).body.scope, asked.join(" "));
  });

  it("can be denied even if it cannot be approved", async () => {
    const { deviceCode, userCode } = await start("write_clusters");

    assert.ok(await denyCode(world, world.acme, userCode));

    await assertOAuthError(poll(world, world.client, deviceCode), 400, "access_denied");
  });

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

    const seen = await sees(world.acme.user.id, typed);
    assert.deepEqual([seen?.code.id, seen?.state], [again.id, "pending"]);
  });

  it("finds codes issued under the previous SECRET_KEY", async () => {
    const { typed } = await start();
    const cipher = createCipher("another key that is at least 32 characters", secretKey);
    const claim = { userId: world.acme.user.id, userCode: typed };
    const lost = createCipher("another key that is at least 32 characters");

    assert.equal(await claimUserCode({ ...world.services, cipher: lost }, claim, false), false);
    assert.ok(await claimUserCode({ ...world.services, cipher }, claim, false));
    assert.ok(await findDeviceRequest({ ...world.services, cipher }, claim));
  });

  it("shows the pending request of a disabled application as expired", async () => {
    const doomed = await setUpClient(world);
    const { userCode } = await startDevice(world, doomed);
    await enterCode(world, world.acme.user.id, userCode);

    await disableApplication(world.services, doomed.clientId);

    assert.equal((await sees(world.acme.user.id, userCode.replace("-", "")))?.state, "expired");
  });
});
