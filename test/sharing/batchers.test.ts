import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createBatcher, createBatchers } from "../../shared/sharing/batcher.ts";
import { presentOwner, runFor } from "../../shared/sharing/owner.ts";

describe("batchers of owners", () => {
  const open = () => {
    const { promise: lockGone, resolve: unlock } = Promise.withResolvers<void>();
    const flushed: string[][] = [];
    const batchers = createBatchers<string, string>((item) => item.slice(0, 1), {
      async flush(items) {
        flushed.push(items);
        if (items[0]?.startsWith("a")) await lockGone;
        return items.map((item) => `${item} done`);
      },
    });
    return { batchers, flushed, unlock };
  };

  it("hold up only the owner whose batch waits", async () => {
    const { batchers, unlock } = open();
    const answered: string[] = [];
    const add = async (item: string) => void answered.push(await batchers.add(item));

    const ofA = [add("a1"), add("a2")];
    await Promise.all([add("b1"), add("b2")]);
    await add("b3");

    assert.deepEqual(answered, ["b1 done", "b2 done", "b3 done"]);
    unlock();
    await Promise.all(ofA);
    assert.deepEqual(answered.slice(3), ["a1 done", "a2 done"]);
  });

  it("flush items of one owner together, and one batch of it at a time", async () => {
    const { batchers, flushed, unlock } = open();

    const first = [batchers.add("a1"), batchers.add("a2")];
    while (flushed.length === 0) await nextTurn();
    const second = [batchers.add("a3"), batchers.add("a4")];
    await batchers.add("b2");
    unlock();
    await Promise.all([...first, ...second]);

    assert.deepEqual(
      flushed.filter(([item]) => item?.startsWith("a")),
      [
        ["a1", "a2"],
        ["a3", "a4"],
      ],
    );
  });
});

describe("the owner of a batch", () => {
  const flush = async (items: string[]) => items.map(presentOwner);
  /** Adds an item for each of these callers at once. */
  const addAll = (callers: string[], add: (item: string) => Promise<string | undefined>) =>
    Promise.all(callers.map((caller) => runFor(caller, () => add(caller))));

  it("is nobody if its callers may differ, so that none pays for the others", async () => {
    const batcher = createBatcher({ flush });
    assert.deepEqual(await addAll(["a", "b"], batcher.add), [undefined, undefined]);
  });

  it("is theirs if they are of one", async () => {
    const batchers = createBatchers((item: string) => item, { flush });
    assert.deepEqual(await addAll(["a", "b", "a"], batchers.add), ["a", "b", "a"]);
  });
});
