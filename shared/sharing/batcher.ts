import { setImmediate as nextTurn } from "node:timers/promises";
import { runFor } from "./owner.ts";
import { Tasks } from "./tasks.ts";

export interface Batcher<Item, Result> {
  add(item: Item): Promise<Result>;
  idle(): Promise<void>;
}

export interface BatcherOptions<Item, Result> {
  /** Returns results in the items' order. */
  flush: (items: Item[]) => Promise<Result[]>;
  /** Default: `gatherWhileGrowing`. */
  gather?: (countWaiting: () => number) => Promise<unknown>;
  maxItems?: number;
  /** The limit of a batch's weights together. A heavier item goes alone. */
  maxWeight?: number;
  weigh?: (item: Item) => number;
  /** Flushes batches in parallel. */
  overlaps?: boolean;
  /** Rejects items that have waited longer when their turn comes. */
  maxWait?: { ms: number; error: () => Error };
  /** Runs the flushes for this owner. Default: for nobody, as callers may differ. */
  owner?: string;
  /** Called when nothing waits any more. */
  onIdle?: () => void;
}

/** Something is away that every item of a batch needs. */
export class Outage extends Error {}

interface Waiting<Item, Result> {
  item: Item;
  addedAt: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** A commit costs as much as a dozen rows. */
const maxGatheringTurns = 4;

/** Waits while the count grows beyond `from`. With 0, a lone item waits one turn of the event loop. */
export async function gatherWhileGrowing(countWaiting: () => number, from = 0): Promise<void> {
  for (let turn = 0, before = from; turn < maxGatheringTurns && countWaiting() > before; turn++) {
    before = countWaiting();
    await nextTurn();
  }
}

/**
 * Batches grow with the load. After a failed flush each item is tried alone, so only the bad one fails. An outage fails
 * all.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const { flush, gather = gatherWhileGrowing, overlaps = false, maxWait } = options;
  const waiting: Waiting<Item, Result>[] = [];
  const tasks = new Tasks();
  let isRunning = false;

  const flushAll = async (batch: Waiting<Item, Result>[]) => {
    const results = await flush(batch.map((entry) => entry.item));
    for (let index = 0; index < batch.length; index++) batch[index]?.resolve(results[index] as Result);
  };

  const fail = (entries: Waiting<Item, Result>[], error: unknown) => {
    for (const entry of entries) entry.reject(error);
  };

  const flushOneByOne = async (batch: Waiting<Item, Result>[]) => {
    for (const [index, entry] of batch.entries()) {
      try {
        await flushAll([entry]);
      } catch (error) {
        if (error instanceof Outage) return fail([...batch.slice(index), ...waiting.splice(0)], error);
        entry.reject(error);
      }
    }
  };

  const settle = async (batch: Waiting<Item, Result>[]) => {
    if (batch.length === 0) return;
    try {
      await flushAll(batch);
    } catch (error) {
      if (error instanceof Outage) fail([...batch, ...waiting.splice(0)], error);
      else if (batch.length === 1) fail(batch, error);
      else await flushOneByOne(batch);
    }
  };

  const run = async () => {
    isRunning = true;
    while (waiting.length > 0) {
      await gather(() => waiting.length);
      rejectLate();
      const settled = settle(waiting.splice(0, batchSize(waiting, options)));
      if (overlaps) tasks.add(settled);
      else await settled;
    }
    isRunning = false;
    options.onIdle?.();
  };

  const rejectLate = () => {
    if (!maxWait) return;
    const addedBefore = performance.now() - maxWait.ms;
    const firstInTime = waiting.findIndex(({ addedAt }) => addedAt >= addedBefore);
    const late = waiting.splice(0, firstInTime === -1 ? waiting.length : firstInTime);
    for (const entry of late) entry.reject(maxWait.error());
  };

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, addedAt: performance.now(), resolve, reject });
        if (!isRunning) tasks.add(runFor(options.owner, run));
      }),
    idle: () => tasks.idle(),
  };
}

/** Batches of one owner each, one at a time: an owner whose batch waits for a lock holds up no other. */
export function createBatchers<Item, Result>(
  ownerOf: (item: Item) => string,
  options: Omit<BatcherOptions<Item, Result>, "owner" | "onIdle">,
): Pick<Batcher<Item, Result>, "add"> {
  const batchers = new Map<string, Batcher<Item, Result>>();
  const open = (owner: string) => {
    const batcher = createBatcher({ ...options, owner, onIdle: () => batchers.delete(owner) });
    batchers.set(owner, batcher);
    return batcher;
  };
  return {
    add(item) {
      const owner = ownerOf(item);
      return (batchers.get(owner) ?? open(owner)).add(item);
    },
  };
}

function batchSize<Item>(
  waiting: { item: Item }[],
  {
    maxItems = Number.POSITIVE_INFINITY,
    maxWeight,
    weigh,
  }: Pick<BatcherOptions<Item, unknown>, "maxItems" | "maxWeight" | "weigh">,
): number {
  if (maxWeight === undefined || weigh === undefined) return Math.min(waiting.length, maxItems);
  let weight = 0;
  let size = 0;
  for (const { item } of waiting) {
    weight += weigh(item);
    if (size > 0 && (size >= maxItems || weight > maxWeight)) break;
    size++;
  }
  return size;
}
