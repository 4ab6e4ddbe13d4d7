import assert from "node:assert/strict";
import { it } from "node:test";
import { sqlite } from "../helpers/databases.ts";
import { authorize, setUpClient } from "../helpers/device.ts";
import { startWorld } from "../helpers/world.ts";

it("device codes for the networks of a /48 are 429 after three times the limit of one", async () => {
  const world = await startWorld(sqlite, {
    TRUSTED_PROXIES: "127.0.0.1",
    DEVICE_AUTHORIZATIONS_PER_MINUTE: "2",
    DEVICE_AUTHORIZATIONS_PER_MINUTE_AND_CLIENT: "10",
  });
  const client = await setUpClient(world);
  const request = async (ip: string) =>
    (await authorize(world, client, {}, { "X-Forwarded-For": ip })).status;

  const statuses: number[] = [];
  for (let index = 0; index < 20; index++) statuses.push(await request(`2001:db8:0:${index}::1`));

  assert.deepEqual(statuses, [...Array(6).fill(200), ...Array(14).fill(429)]);
  assert.equal(await request("192.0.2.1"), 200, "the application has codes left for others");
  await world.close();
});
