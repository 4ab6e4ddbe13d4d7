import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readConfig } from "../../shared/settings/config.ts";
import { addressesOnPlainHttp } from "../../shared/settings/urls.ts";

const addressesOf = (settings: Record<string, string>) => addressesOnPlainHttp(readConfig(settings));

describe("addresses on plain http", () => {
  it("are none if only this machine reaches them, or with https", () => {
    assert.deepEqual(addressesOf({}), []);
    assert.deepEqual(addressesOf({ HOST: "::1", PUBLIC_URL: "http://[::1]:3000" }), []);
    assert.deepEqual(addressesOf({ PUBLIC_URL: "http://127.0.0.1:8080" }), []);
    assert.deepEqual(addressesOf({ HOST: "0.0.0.0", PUBLIC_URL: "https://ci.example.com" }), []);
  });

  it("are those that other machines use, or that a port open to them shows", () => {
    for (const address of ["http://ci.example.com", "http://localhost.example.com", "http://127.example.com"])
      assert.deepEqual(addressesOf({ PUBLIC_URL: address }), [address]);
    assert.deepEqual(addressesOf({ HOST: "0.0.0.0" }), ["http://localhost:3000"]);
    assert.deepEqual(addressesOf({ AUTH_URL: "http://ci.example.com" }), ["http://ci.example.com"]);
  });
});
