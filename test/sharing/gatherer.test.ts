import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type GathererOptions,
  Outage,
  openGatherer,
  openGatherers,
  pause,
  readOnce,
  readTogether,
} from "../../shared/sharing/gatherer.ts";
import { presentOwner, runFor } from "../../shared/sharing/owner.ts";

/** Its flushes end in the next turn, or fail by `fault`. */
function open(
  options: Partial<GathererOptions<number, string>>,
  fault: (items: number[]) => Error | undefined = () => undefined,
) {
  const flushed: number[][] = [];
  const flush = async (items: number[]) => {
    flushed.push(items);
    await nextTurn();
    const error = fault(items);
    if (error) throw error;
    return items.map((item) => `${item} done`);
  };
  return { flushed, gatherer: openGatherer<number, string>({ ...options, flush }) };
}

const outcomesOf = async (adding: Promise<unknown>[]) =>
  (await Promise.allSettled(adding)).map((each) =>
    each.status === "fulfilled" ? each.value : (each.reason as Error).message,
  );

describe("what is gathered", () => {
  it("is flushed together, and each caller gets its own result", async () => {
    const { gatherer, flushed } = open({ maxItems: 2 });
    assert.deepEqual(await Promise.all([1, 2, 3].map(gatherer.add)), ["1 done", "2 done", "3 done"]);
    assert.deepEqual(flushed, [[1, 2], [3]]);
  });

  it("has a limit of weight, and a heavier item goes alone", async () => {
    const { gatherer, flushed } = open({ maxWeight: 10, weigh: (item) => item });
    await Promise.all([4, 4, 5, 50, 4].map(gatherer.add));
    assert.deepEqual(flushed, [[4, 4], [5], [50], [4]]);
  });

  it("fails alone if it is bad", async () => {
    const { gatherer } = open({}, (items) => (items.includes(2) ? new Error("two") : undefined));
    assert.deepEqual(await outcomesOf([1, 2, 3].map(gatherer.add)), ["1 done", "two", "3 done"]);
  });

  it("fails with all that waits in an outage, also while each is tried alone", async () => {
    const fault = (items: number[]) => (items.length > 1 ? new Error("one of them") : new Outage("away"));
    const { gatherer, flushed } = open({ maxItems: 3 }, fault);
    assert.deepEqual(await outcomesOf([1, 2, 3, 4].map(gatherer.add)), Array(4).fill("away"));
    assert.equal(flushed.length, 2);
  });

  it("is one with others of its key", async () => {
    const { gatherer, flushed } = open({ keyOf: (item) => item % 10, merge: (one, other) => one + other });
    assert.deepEqual(await Promise.all([1, 2, 11].map(gatherer.add)), ["12 done", "2 done", "12 done"]);
    assert.deepEqual(flushed.flat().toSorted(), [12, 2]);
  });

  it("is kept after a failure if nobody waits for it, as far as there is room", async () => {
    let isAway = true;
    const { gatherer, flushed } = open(
      {
        when: (_, hurry) => pause(60_000, hurry),
        kept: { max: 4, ownerOf: (item) => (item < 10 ? "few" : "many") },
      },
      () => (isAway ? new Error("away") : undefined),
    );
    for (const item of [1, 11, 12, 13]) gatherer.put(item);
    await gatherer.flush();
    isAway = false;
    gatherer.put(2);
    await gatherer.flush();
    assert.deepEqual(flushed, [
      [1, 11, 12, 13],
      [1, 11, 12, 2],
    ]);
  });

  it("holds up only the owner whose flush waits, and is flushed for it, else for nobody", async () => {
    const lock = Promise.withResolvers<void>();
    const flush = async (items: string[]) => {
      if (items.includes("a")) await lock.promise;
      return items.map((item) => `${item} for ${presentOwner()}`);
    };
    const addFor = (owner: string, add: (item: string) => Promise<string>) => runFor(owner, () => add(owner));
    const owners = openGatherers<string, string>((item) => item, { flush });
    const ofA = addFor("a", owners.add);
    assert.equal(await addFor("b", owners.add), "b for b");
    lock.resolve();
    assert.equal(await ofA, "a for a");
    assert.equal(await addFor("c", openGatherer<string, string>({ flush }).add), "c for undefined");
  });
});

describe("reads of a turn of the event loop", () => {
  it("are one, with each key once", async () => {
    const asked: string[][] = [];
    const find = readTogether(
      async (keys) => {
        asked.push(keys);
        return [{ id: "a" }];
      },
      ({ id }) => id,
    );
    assert.deepEqual(await Promise.all(["a", "b", "a"].map(find)), [{ id: "a" }, undefined, { id: "a" }]);
    assert.deepEqual(asked, [["a", "b"]]);
  });

  it("are one of each key if a read has only one", async () => {
    let reads = 0;
    const find = readOnce(async (key: string) => `${key}${++reads}`);
    assert.deepEqual(await Promise.all(["a", "b", "a"].map(find)), ["a1", "b2", "a1"]);
    assert.equal(await find("a"), "a3");
  });
});
