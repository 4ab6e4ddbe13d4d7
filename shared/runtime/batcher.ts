import { setImmediate as nextTurn } from "node:timers/promises";
import { DatabaseUnavailable } from "../db/database.ts";

export interface Batcher<Item, Result> {
  /** The item's own result, once the transaction that it was part of is committed. */
  add(item: Item): Promise<Result>;
}

/** A commit costs as much as a dozen rows, so a little patience under load pays. */
const gatheringTurns = 4;

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Commit what arrives together in one transaction: while one group is being written the next one gathers, so
 * groups grow with the load and a lone item waits for nobody.
 *
 * @param options.commit writes a group and returns a result for each item, in order
 * @param options.weigh what an item counts against `maxWeight`, for example its bytes
 */
export function createBatcher<Item, Result>(options: {
  commit: (items: Item[]) => Promise<Result[]>;
  maxItems: number;
  maxWeight: number;
  weigh: (item: Item) => number;
}): Batcher<Item, Result> {
  const { commit, maxItems, maxWeight, weigh } = options;
  const waiting: Waiting<Item, Result>[] = [];
  let isRunning = false;

  /** A lone item waits one turn of the event loop; while more keep coming, the group may grow for a few. */
  const gather = async () => {
    for (let turn = 0, before = 0; turn < gatheringTurns && waiting.length > before; turn++) {
      before = waiting.length;
      await nextTurn();
    }
  };

  const nextGroup = () => {
    let weight = 0;
    const fits = (entry: Waiting<Item, Result>, index: number) => {
      weight += weigh(entry.item);
      return index === 0 || (index < maxItems && weight <= maxWeight);
    };
    const end = waiting.findIndex((entry, index) => !fits(entry, index));
    return waiting.splice(0, end === -1 ? waiting.length : end);
  };

  const commitAll = async (group: Waiting<Item, Result>[]) => {
    const results = await commit(group.map((entry) => entry.item));
    group.forEach((entry, index) => {
      entry.resolve(results[index] as Result);
    });
  };

  const fail = (entries: Waiting<Item, Result>[], error: unknown) => {
    for (const entry of entries) entry.reject(error);
  };

  const commitOneByOne = async (group: Waiting<Item, Result>[]) => {
    for (const [at, entry] of group.entries()) {
      try {
        await commitAll([entry]);
      } catch (error) {
        if (error instanceof DatabaseUnavailable)
          return fail([...group.slice(at), ...waiting.splice(0)], error);
        entry.reject(error);
      }
    }
  };

  const run = async () => {
    isRunning = true;
    while (waiting.length > 0) {
      await gather();
      const group = nextGroup();
      try {
        await commitAll(group);
      } catch (error) {
        // A database that is away fails everyone who waits for it. Anything else may be the fault of one item.
        if (error instanceof DatabaseUnavailable) fail([...group, ...waiting.splice(0)], error);
        else if (group.length === 1) group[0]?.reject(error);
        else await commitOneByOne(group);
      }
    }
    isRunning = false;
  };

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (!isRunning) void run();
      }),
  };
}
