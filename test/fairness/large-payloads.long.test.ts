import assert from "node:assert/strict";
import { before, it } from "node:test";
import { manyKeys } from "../../scripts/bench/bodies.ts";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import { post } from "../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";

const slowToCheck = Buffer.from(manyKeys());
const ordinary = Buffer.from(JSON.stringify({ text: "x".repeat(70_000) }));
const attacks = 40;

const open = withSettings(startWorld, { MAX_BODY_BYTES_IN_FLIGHT: String(1024 * 1024 * 1024) });

describeWorldOn(sqlite, "40 large payloads of one organization", open, (world) => {
  let victim: TestOrganization;
  let attacker: TestOrganization;

  before(async () => {
    // A trigger's share of the memory takes all of them.
    victim = await setUpOrganization(world, "victim");
    attacker = await setUpOrganization(world, "attacker");
  });

  it("are accepted or answered 503, and let another organization's webhooks pass", async () => {
    const [slow, quick] = [await attacker.trigger(), await victim.trigger()];
    const accepted: string[] = [];
    const send = async (name: string, path: string, body: Buffer<ArrayBuffer>) => {
      const { status } = await post(world.url + path, body);
      accepted.push(name);
      return status;
    };

    const large = Array.from({ length: attacks }, () => send("attacker", slow.path, slowToCheck));
    await Promise.race(large);
    for (let sent = 0; sent < 5; sent++) assert.equal(await send("victim", quick.path, ordinary), 201);
    const overtaken = attacks - accepted.filter((name) => name === "attacker").length;

    for (const status of await Promise.all(large)) assert.ok(status === 201 || status === 503, `${status}`);
    assert.equal(await send("attacker", slow.path, ordinary), 201);
    assert.ok(overtaken > attacks / 4, `the victim overtook ${overtaken} of ${attacks}`);
  });
});
