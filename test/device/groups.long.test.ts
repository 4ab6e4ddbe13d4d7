import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { eq } from "drizzle-orm";
import { hashToken } from "../../shared/crypto/tokens.ts";
import { DeviceFlow } from "../../shared/device/flow.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import { allGrants, approveCode, setUpClient, startDevice, type TestClient } from "../helpers/device.ts";
import { openAcme } from "../helpers/organization.ts";

const settings = { DEVICE_AUTHORIZATIONS_PER_MINUTE: "1000" };

describeWorld("exchanges of device codes that arrive together", withSettings(openAcme, settings), (world) => {
  let client: TestClient;
  let flow: DeviceFlow;

  before(async () => {
    client = await setUpClient(world, { refreshTokens: true });
    flow = new DeviceFlow(world.services);
  });
  after(() => flow.close());

  const approved = async () => {
    const { deviceCode, userCode } = await startDevice(world, client);
    assert.ok(await approveCode(world, world.acme, userCode));
    return deviceCode;
  };
  const manyApproved = async (count: number) => {
    const deviceCodes: string[] = [];
    for (let made = 0; made < count; made++) deviceCodes.push(await approved());
    return deviceCodes;
  };
  const rowOf = async (deviceCode: string) => {
    const { deviceCodes } = world.services.db.tables;
    const isMeant = eq(deviceCodes.deviceCodeHash, hashToken(deviceCode));
    return (await world.services.db.select().from(deviceCodes).where(isMeant))[0];
  };
  it("fail alone: others in the group get their tokens", async () => {
    const deviceCodes = await manyApproved(7);
    const damaged = deviceCodes[3] as string;
    await world.services.db.transaction((tx) =>
      tx
        .update(tx.tables.deviceCodes)
        .set({ organizationId: null })
        .where(eq(tx.tables.deviceCodes.deviceCodeHash, hashToken(damaged))),
    );
    const before = (await allGrants(world)).length;

    const outcomes = await Promise.allSettled(deviceCodes.map((deviceCode) => flow.poll(client, deviceCode)));

    for (const [index, outcome] of outcomes.entries()) {
      if (deviceCodes[index] === damaged)
        assert.match(outcome.status === "rejected" ? outcome.reason.message : "", /has no approval/);
      else assert.ok(outcome.status === "fulfilled" && typeof outcome.value === "object");
    }
    assert.equal((await allGrants(world)).length - before, 6);
    assert.equal((await rowOf(damaged))?.state, "approved", "nothing of the failed redemption is kept");
  });

  it("give a code's tokens to one poll of a group", async () => {
    const [deviceCode = "", other = ""] = await manyApproved(2);

    const answers = await Promise.all(
      [deviceCode, other, deviceCode, deviceCode].map((each) => flow.poll(client, each)),
    );

    const kinds = answers.map((answer) => (typeof answer === "string" ? answer : "tokens")).sort();
    assert.deepEqual(kinds, ["bad_device_code", "bad_device_code", "tokens", "tokens"]);
    assert.ok(typeof answers[1] === "object");
  });
});
