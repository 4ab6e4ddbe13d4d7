import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { request } from "../../helpers/http.ts";
import { startWorld } from "../../helpers/world.ts";

const open = withSettings(startWorld, { TRUSTED_PROXIES: "127.0.0.1,10.0.0.0/8,2001:db8:1::/48" });

describeWorldOn(sqlite, "the client's address behind a proxy", open, (world) => {
  const addressFor = async (forwarded: string): Promise<string> => {
    const from = world.logged.length;
    await request(`${world.url}/healthz`, { headers: { "X-Forwarded-For": forwarded } });
    return JSON.parse(world.logged.slice(from).find((line) => line.includes('"request"')) ?? "{}").ip;
  };

  for (const [forwarded, address] of [
    ["192.0.2.1", "192.0.2.1"],
    ["192.0.2.1:49152", "192.0.2.1"],
    ["2001:db8::1", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["[2001:db8::1]:49152", "2001:db8::1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["[::ffff:c000:201]:49152", "192.0.2.1"],
  ] as const)
    it(`is understood in ${forwarded}`, async () => {
      assert.equal(await addressFor(forwarded), address);
    });

  it("is the last one that no trusted proxy has", async () => {
    assert.equal(await addressFor("198.51.100.9, 192.0.2.1, 10.1.2.3"), "192.0.2.1");
    assert.equal(await addressFor("192.0.2.1:80 , [2001:db8:1::5]:443,::ffff:10.1.2.3"), "192.0.2.1");
    assert.equal(await addressFor("10.0.0.1, 10.0.0.2"), "10.0.0.1");
  });

  it("is the socket's address if the proxy sends text", async () => {
    for (const text of [
      "unknown",
      "_hidden",
      "",
      ",",
      "192.0.2.1:",
      "192.0.2.256",
      "[192.0.2",
      "a:1",
      "1.2.3:4",
    ])
      assert.equal(await addressFor(text), "127.0.0.1", text);
    assert.equal(await addressFor("192.0.2.1, unknown, 10.1.2.3"), "127.0.0.1");
  });

  it("is not affected by text that a client sent to the proxy", async () => {
    assert.equal(await addressFor("unknown, 192.0.2.1"), "192.0.2.1");
  });
});

describe("the client's address without a proxy", () => {
  it("is the socket's address whatever X-Forwarded-For says", async () => {
    const world = await startWorld(sqlite);

    await request(`${world.url}/healthz`, { headers: { "X-Forwarded-For": "192.0.2.1" } });

    assert.ok(world.logged.some((line) => line.includes('"ip":"127.0.0.1"')));
    assert.ok(!world.logged.some((line) => line.includes("192.0.2.1")));
    await world.close();
  });
});
