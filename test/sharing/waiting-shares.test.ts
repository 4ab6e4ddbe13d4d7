import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Holder } from "../../shared/sharing/shares.ts";
import { WaitingShares } from "../../shared/sharing/waiting-shares.ts";

const longMs = 60_000;
const open = () => new WaitingShares({ max: 10, shares: [{ kind: "organization", part: 4 / 10 }] });

describe("shares that are waited for", () => {
  it("are given in the order of those who wait, and past an owner at its bound", async () => {
    const shares = open();
    const given: string[] = [];
    const take = async (name: string, amount: number, organization: string) => {
      const holder = await shares.take({ organization }, amount, longMs);
      given.push(name);
      return holder as Holder;
    };

    const first = await take("first", 4, "a");
    const second = await take("second", 4, "b");
    const waiting = [take("third", 4, "a"), take("fourth", 4, "b")];
    shares.release(second);
    shares.release((await waiting[1]) as Holder);
    assert.deepEqual(given, ["first", "second", "fourth"]);

    shares.release(first);
    shares.release((await waiting[0]) as Holder);
    assert.deepEqual(given, ["first", "second", "fourth", "third"]);
  });

  it("are not given after the wait has ended", async () => {
    const shares = open();
    const all = (await shares.take({}, 10, longMs)) as Holder;

    assert.equal(await shares.take({}, 1, 1), undefined);

    shares.release(all);
    assert.ok(await shares.take({}, 10, 1));
  });
});
