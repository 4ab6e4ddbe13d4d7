export interface PeriodicFlush<Item> {
  add(key: string, item: Item): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Keeps one item per key and stores all at intervals. Items that were not stored wait for the next flush. */
export function createPeriodicFlush<Item>(options: {
  everyMs: number;
  maxItems: number;
  /** `ownerOf`: drops the newest item of the owner that has most, so that none crowds out the others. */
  whenFull: "drop oldest" | { ownerOf: (item: Item) => string };
  merge: (earlier: Item, later: Item) => Item;
  /** @returns false if the items were not stored */
  store: (items: Map<string, Item>) => Promise<boolean>;
}): PeriodicFlush<Item> {
  const { everyMs, maxItems, whenFull, merge, store } = options;
  let items = new Map<string, Item>();

  const add = (key: string, item: Item) => {
    const earlier = items.get(key);
    items.delete(key); // becomes the newest
    items.set(key, earlier === undefined ? item : merge(earlier, item));
    if (items.size <= maxItems) return;
    const [oldest] = items.keys();
    items.delete(
      typeof whenFull === "object" ? newestOfLargest(items, whenFull.ownerOf) : (oldest as string),
    );
  };

  const storeAll = async () => {
    if (items.size === 0) return;
    const taken = items;
    items = new Map();
    if (await store(taken)) return;
    const added = items;
    items = taken;
    for (const [key, item] of added) add(key, item);
  };

  let last = Promise.resolve();
  const flush = () => {
    last = last.then(storeAll);
    return last;
  };
  const timer = setInterval(flush, everyMs);
  timer.unref();

  return {
    add,
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** Returns the newest key of the owner with most items. Of several such owners, it takes the one that came last. */
function newestOfLargest<Item>(items: Map<string, Item>, ownerOf: (item: Item) => string): string {
  const owners = Map.groupBy(items, ([, item]) => ownerOf(item));
  const largest = [...owners.values()].sort((a, b) => a.length - b.length).at(-1);
  return largest?.at(-1)?.[0] ?? "";
}
