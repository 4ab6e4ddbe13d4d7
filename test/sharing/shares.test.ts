import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { shares as bounds } from "../../shared/sharing/bounds.ts";
import { type Holder, type Owners, Shares } from "../../shared/sharing/shares.ts";

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
  const fullFor = (owners: Owners, amount = 1, minShare = 0) =>
    shares.grow({ owners, held: 0, minShare }, amount);

  it("bind once half is held, some of them always", () => {
    for (let held = 0; held < 5; held++) assert.equal(fullFor({ network: "a" }), undefined);
    assert.equal(fullFor({ network: "a" }), "owner");
    for (let held = 0; held < 2; held++) assert.equal(fullFor({ user: "u" }), undefined);
    assert.equal(fullFor({ user: "u" }), "owner");
  });

  it("count what is held for each of its owners, until it is released", () => {
    const holder = shares.take({ network: "a", wideNetwork: "w" }, 2) as Holder;
    shares.take({ network: "b", wideNetwork: "w" }, 3);
    const other = { network: "c", wideNetwork: "w" };

    assert.equal(fullFor(other), "owner");
    for (let times = 0; times < 2; times++) shares.release(holder);
    assert.equal(fullFor(other), undefined);
    assert.deepEqual([shares.total, shares.heldBy("wideNetwork", other)], [4, 4]);
  });

  it("tell a full resource from a full share, and give nothing then", () => {
    for (const network of ["a", "b", "c"]) shares.take({ network }, 3);
    assert.deepEqual([fullFor({ network: "d" }, 2), fullFor({ network: "a" })], ["all", "owner"]);
    assert.equal(shares.total, 9);
  });

  it("are never smaller than what an owner may always hold", () => {
    shares.take({}, 5);
    assert.equal(fullFor({ network: "a" }, 5), "owner");
    assert.equal(fullFor({ network: "a" }, 5, 5), undefined);
  });

  it("go from holders with reasons to leave, of the owner that is at its bound", () => {
    const left: string[] = [];
    const hold = (network: string, reasons: number, amount = 3) => {
      const leave = () => void left.push(`${network}${reasons}`);
      const holder = { owners: { network }, held: 0, reasonsToLeave: () => reasons, leave };
      assert.equal(shares.grow(holder, amount), undefined);
      return holder;
    };
    for (const reasons of [1, 0]) hold("a", reasons, 2);
    hold("b", 2);

    assert.equal(fullFor({ network: "a" }), undefined);
    assert.deepEqual(left, ["a1"]);
    assert.equal(fullFor({ network: "a" }), "owner");
    const growing = hold("c", 3, 2);
    assert.equal(fullFor({ network: "d" }, 3), undefined);
    assert.deepEqual(left.splice(1), ["c3"]);
    shares.force(growing, 4);
    assert.deepEqual([left.splice(1), shares.total], [["b2"], 10]);
  });
});

describe("reads of payloads that are held", () => {
  it("leave places to others, however many builds of an organization hold them", () => {
    const held = new Shares(bounds.heldReads);
    const hold = (organization: string, build: number) =>
      typeof held.take({ organization, build: `${organization} ${build}` }) !== "string";
    let builds = 0;
    while (hold("a", builds)) builds++;
    assert.ok(builds <= bounds.heldReads.max / 2, `${builds} builds`);
    assert.ok(hold("b", 1));
  });
});
