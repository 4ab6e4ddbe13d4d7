import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseNetwork } from "../../shared/networks.ts";
import { mayReach } from "../../shared/outgoing/addresses.ts";

/** By class, its first and last address, or some of its forms. */
const inside: Record<string, string[]> = {
  "this network": ["0.0.0.0", "0.255.255.255"],
  private: ["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"],
  "carrier-grade NAT": ["100.64.0.0", "100.127.255.255"],
  loopback: ["127.0.0.1", "127.255.255.255"],
  "link-local, with metadata services": [
    "169.254.0.0",
    "169.254.169.254",
    "169.254.170.2",
    "169.254.255.255",
  ],
  "protocol assignments": ["192.0.0.0", "192.0.0.192", "192.0.0.255"],
  documentation: ["192.0.2.1", "198.51.100.1", "203.0.113.1"],
  "relays of 6to4": ["192.88.99.1"],
  benchmarks: ["198.18.0.0", "198.19.255.255"],
  multicast: ["224.0.0.1", "239.255.255.255"],
  reserved: ["240.0.0.0", "255.255.255.254"],
  broadcast: ["255.255.255.255"],
  "unspecified, of IPv6": ["::", "0:0:0:0:0:0:0:0"],
  "loopback, of IPv6": ["::1"],
  "IPv4-compatible": ["::7f00:1", "::10.0.0.1", "::8.8.8.8"],
  "IPv4-mapped": ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:8.8.8.8"],
  "IPv4-translated": ["::ffff:0:7f00:1", "64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1"],
  "discard-only": ["100::1"],
  "Teredo, ORCHID and others of 2001::/23": ["2001::1", "2001:10::1", "2001:20::1", "2001:2::1"],
  "documentation, of IPv6": ["2001:db8::1", "3fff::1"],
  "6to4": ["2002::1", "2002:7f00:1::"],
  "segment routing": ["5f00::1"],
  "unique local, with a metadata service": ["fc00::1", "fd00:ec2::254", "fdff::1"],
  "link-local, of IPv6": ["fe80::1", "fe80::1%eth0", "febf::1"],
  "site-local": ["fec0::1", "feff::1"],
  "multicast, of IPv6": ["ff00::1", "ff02::1", "ffff::1"],
  "never given out": ["4000::1", "8000::1", "::2:0:0:0:1"],
};

const outside = [
  ...["1.0.0.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255"],
  ...["128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255"],
  ...["192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255"],
  ...["2001:4860:4860::8888", "2606:4700::1111", "2a00:1450::1", "2400:cb00::1", "2003::1"],
];

describe("an address", () => {
  for (const [title, addresses] of Object.entries(inside))
    it(`is refused: ${title}`, () => {
      for (const each of addresses) assert.equal(mayReach(each, []), false, each);
    });

  it("is reached: global unicast", () => {
    for (const each of outside) assert.equal(mayReach(each, []), true, each);
  });

  it("is reached if the operator opened its network, and no further", () => {
    const opened = ["10.1.0.0/16", "fd00::/8", "127.0.0.1"].map(parseNetwork);
    for (const each of ["10.1.0.0", "10.1.255.255", "fd12::1", "127.0.0.1"])
      assert.equal(mayReach(each, opened), true, each);
    for (const each of ["10.0.255.255", "10.2.0.0", "fc00::1", "127.0.0.2", "::ffff:10.1.0.1", "::1"])
      assert.equal(mayReach(each, opened), false, each);
  });
});
