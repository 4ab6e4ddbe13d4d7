import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { Shares } from "../../shared/sharing/shares.ts";

describe("shares of a resource", () => {
  let shares: Shares;
  beforeEach(() => {
    shares = new Shares({
      max: 10,
      shares: [
        { kind: "user", max: 2, bindsAlways: true },
        { kind: "network", part: 3 / 10 },
        { kind: "wideNetwork", part: 4 / 10 },
      ],
    });
  });
  const boundOf = (...given: Parameters<Shares["take"]>) => shares.take(...given)?.bound;

  it("bind once half is held, some of them always", () => {
    const caller = { network: "a", wideNetwork: "w" };

    for (let held = 0; held < 5; held++) assert.equal(boundOf(caller), undefined);
    assert.deepEqual(shares.take(caller), { bound: "owner", owner: "network a" });
    assert.equal(boundOf({ user: "u" }), undefined);
    assert.equal(boundOf({ user: "u" }), undefined);
    assert.deepEqual(shares.take({ user: "u" }), { bound: "owner", owner: "user u" });
  });

  it("count what is held for each of its owners, until it is given back", () => {
    shares.take({ network: "a", wideNetwork: "w" }, 2);
    shares.take({ network: "b", wideNetwork: "w" }, 3);

    assert.equal(shares.heldBy("wideNetwork", "w"), 5);
    assert.equal(boundOf({ network: "c", wideNetwork: "w" }), "owner");
    shares.giveBack({ network: "a", wideNetwork: "w" }, 2);
    assert.equal(boundOf({ network: "c", wideNetwork: "w" }), undefined);
    assert.deepEqual([shares.total, shares.heldBy("network", "a")], [4, 0]);
  });

  it("tell a full resource from a full share, and take nothing then", () => {
    for (const network of ["a", "b", "c"]) shares.take({ network }, 3);

    assert.equal(boundOf({ network: "d" }, 2), "all");
    assert.equal(boundOf({ network: "a" }), "owner");
    assert.equal(shares.total, 9);
  });

  it("are never smaller than what an owner may always hold", () => {
    shares.take({}, 5);
    assert.equal(boundOf({ network: "a" }, 5), "owner");
    assert.equal(boundOf({ network: "a" }, 5, 5), undefined);
  });
});
