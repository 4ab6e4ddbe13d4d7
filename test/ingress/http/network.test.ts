import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { networkOf, wideNetworkOf } from "../../../ingress/http/network.ts";

describe("networkOf", () => {
  it("is an IPv4 address itself", () => {
    assert.equal(networkOf("192.0.2.1"), "192.0.2.1");
    assert.equal(networkOf(""), "");
  });

  it("is the /64 of an IPv6 address in any notation", () => {
    for (const ip of ["2001:db8::1", "2001:db8::", "2001:0DB8:0:0:1:2:3:4", "2001:db8:0:0::ffff:192.0.2.1"])
      assert.equal(networkOf(ip), "2001:db8:0:0::/64", ip);
    assert.equal(networkOf("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
    assert.equal(networkOf("::1"), "0:0:0:0::/64");
    assert.equal(networkOf("fe80::1%eth0"), "fe80:0:0:0::/64");
    assert.equal(networkOf("1::3:4:5:6:7:8"), "1:0:3:4::/64");
  });
});

describe("wideNetworkOf", () => {
  it("is the /24 of an IPv4 address", () => {
    assert.equal(wideNetworkOf("192.0.2.1"), "192.0.2.0/24");
    assert.equal(wideNetworkOf("192.0.2.255"), "192.0.2.0/24");
    assert.equal(wideNetworkOf(""), "");
    assert.equal(wideNetworkOf("unknown"), "unknown");
  });

  it("is the /48 of an IPv6 address in any notation", () => {
    for (const ip of ["2001:db8::1", "2001:0DB8:0:7:1:2:3:4", "2001:db8:0:ffff::192.0.2.1"])
      assert.equal(wideNetworkOf(ip), "2001:db8:0::/48", ip);
    assert.equal(wideNetworkOf("fe80::1%eth0"), "fe80:0:0::/48");
  });
});
