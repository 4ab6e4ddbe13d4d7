import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { Background } from "./background.ts";
import { runFor } from "./owner.ts";

/** Gathers what comes at about the same time, so that it shares a transaction, a read or a command. */
export interface Gatherer<Item, Result = undefined> {
  /** Resolves with the item's own result. @throws what its flush throws */
  add(item: Item): Promise<Result>;
  /** Adds an item that nobody waits for. */
  put(item: Item): void;
  /** Flushes all that waits, without waiting for more. Items that are kept after a failure are not tried again. */
  flush(): Promise<void>;
}

export interface GathererOptions<Item, Result> {
  /** Returns results in the items' order. An `Error` among them is thrown to its caller. */
  flush: (items: Item[]) => PromiseLike<[Result] extends [undefined] ? unknown : (Result | Error)[]>;
  /** Resolves when the next flush may begin. Default: `whileGrowing`. */
  when?: (countWaiting: () => number, hurry: AbortSignal) => Promise<unknown>;
  /** Items of one key that wait are one, with one result. */
  keyOf?: (item: Item) => unknown;
  /** Makes one of two items of a key. Default: the earlier one. */
  merge?: (earlier: Item, later: Item) => Item;
  maxItems?: number;
  /** The limit of the weights of a flush together. A heavier item goes alone. */
  maxWeight?: number;
  weigh?: (item: Item) => number;
  /** A flush may begin while others run. */
  overlaps?: boolean;
  /** Rejects items that have waited longer when their turn comes. */
  maxWait?: { ms: number; error: () => Error };
  /** For items that nobody waits for: the items of a flush that failed go with the next one. */
  kept?: Kept<Item>;
  /** Runs the flushes for this owner. Default: for nobody, as callers may differ. */
  owner?: string;
  /** Called when nothing waits any more. */
  onIdle?: () => void;
}

interface Kept<Item> {
  /** Then the oldest is dropped. */
  max: number;
  /** Drops the newest item of the owner that has most instead, so that none crowds out the others. */
  ownerOf?: (item: Item) => string;
  onFailure?: (error: unknown, count: number) => void;
}

/** Something is away that every item needs. */
export class Outage extends Error {}

interface Entry<Item, Result> {
  item: Item;
  addedAt: number;
  /** Undefined while nobody waits for it. */
  result?: PromiseWithResolvers<Result>;
}

/** A commit costs as much as a dozen rows. */
const maxGatheringTurns = 4;

/** Waits while the count grows beyond `from`. With 0, a lone item waits one turn of the event loop. */
export async function whileGrowing(countWaiting: () => number, from = 0): Promise<void> {
  for (let turn = 0, before = from; turn < maxGatheringTurns && countWaiting() > before; turn++) {
    before = countWaiting();
    await nextTurn();
  }
}

/** Waits for a time, or until there is a hurry. */
export async function pause(ms: number, hurry: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal: hurry, ref: false }).catch(() => {});
}

/**
 * Flushes grow with the load. After a failed one each item is tried alone, so only the bad one fails. An outage fails
 * all.
 */
export function openGatherer<Item, Result = undefined>(
  options: GathererOptions<Item, Result>,
): Gatherer<Item, Result> {
  const { when = (count) => whileGrowing(count), keyOf = () => ({}), merge = (earlier) => earlier } = options;
  const { overlaps = false, maxWait, kept } = options;
  const {
    maxItems = Number.POSITIVE_INFINITY,
    maxWeight = Number.POSITIVE_INFINITY,
    weigh = () => 0,
  } = options;
  /** By key, oldest first. */
  const waiting = new Map<unknown, Entry<Item, Result>>();
  const background = new Background();
  let hurry = new AbortController();
  let last = Promise.resolve();
  let isRunning = false;
  let hasFailed = false;

  const place = (item: Item) => {
    const key = keyOf(item);
    const earlier = waiting.get(key);
    const entry = earlier ?? { item, addedAt: performance.now() };
    if (earlier) earlier.item = merge(earlier.item, item);
    if (kept) waiting.delete(key); // becomes the newest
    waiting.set(key, entry);
    if (kept && waiting.size > kept.max) waiting.delete(leastWanted(waiting, kept));
    return entry;
  };

  const takeBatch = () => {
    const batch: Entry<Item, Result>[] = [];
    let weight = 0;
    for (const [key, entry] of waiting) {
      weight += weigh(entry.item);
      if (batch.length > 0 && (batch.length >= maxItems || weight > maxWeight)) break;
      batch.push(entry);
      waiting.delete(key);
    }
    return batch;
  };

  const takeAll = () => {
    const all = [...waiting.values()];
    waiting.clear();
    return all;
  };

  const fail = (entries: Entry<Item, Result>[], error: unknown) => {
    for (const { result } of entries) result?.reject(error);
  };

  const flushPart = async (part: Entry<Item, Result>[]) => {
    const results = (await options.flush(part.map(({ item }) => item))) as (Result | Error)[] | undefined;
    for (const [index, { result }] of part.entries()) {
      const own = results?.[index];
      if (own instanceof Error) result?.reject(own);
      else result?.resolve(own as Result);
    }
  };

  const settle = async (parts: Entry<Item, Result>[][]): Promise<void> => {
    for (const [index, part] of parts.entries())
      try {
        await flushPart(part);
      } catch (error) {
        if (kept) keep(part, error);
        else if (error instanceof Outage) return fail([...parts.slice(index).flat(), ...takeAll()], error);
        else if (part.length === 1) fail(part, error);
        else await settle(part.map((entry) => [entry]));
      }
  };

  const keep = (part: Entry<Item, Result>[], error: unknown) => {
    hasFailed = true;
    kept?.onFailure?.(error, part.length);
    for (const { item } of [...part, ...takeAll()]) place(item);
  };

  const rejectLate = ({ ms, error }: NonNullable<typeof maxWait>) => {
    const addedBefore = performance.now() - ms;
    for (const [key, { addedAt, result }] of waiting) {
      if (addedAt >= addedBefore) return;
      waiting.delete(key);
      result?.reject(error());
    }
  };

  const run = async () => {
    do {
      await when(() => waiting.size, hurry.signal);
      if (maxWait) rejectLate(maxWait);
      hasFailed = false;
      const settled = waiting.size > 0 ? settle([takeBatch()]) : Promise.resolve();
      if (overlaps) background.add(settled);
      else await settled;
    } while (waiting.size > 0 && !(hasFailed && hurry.signal.aborted));
    isRunning = false;
    options.onIdle?.();
  };

  const start = () => {
    if (isRunning || waiting.size === 0) return;
    isRunning = true;
    background.add(runFor(options.owner, run));
  };

  return {
    add(item) {
      const entry = place(item);
      entry.result ??= Promise.withResolvers();
      start();
      return entry.result.promise;
    },
    put(item) {
      place(item);
      start();
    },
    flush() {
      last = last.then(async () => {
        hurry.abort();
        start();
        await background.idle();
        hurry = new AbortController();
      });
      return last;
    },
  };
}

/** Gathers the items of each owner apart: one whose flush waits for a lock holds up no other. */
export function openGatherers<Item, Result = undefined>(
  ownerOf: (item: Item) => string,
  options: Omit<GathererOptions<Item, Result>, "owner" | "onIdle">,
): Pick<Gatherer<Item, Result>, "add"> {
  const gatherers = new Map<string, Gatherer<Item, Result>>();
  const open = (owner: string) => {
    const gatherer = openGatherer({ ...options, owner, onIdle: () => gatherers.delete(owner) });
    gatherers.set(owner, gatherer);
    return gatherer;
  };
  return {
    add(item) {
      const owner = ownerOf(item);
      return (gatherers.get(owner) ?? open(owner)).add(item);
    },
  };
}

/** Keeps the values of a statement few. */
const maxKeys = 100;

/**
 * Makes one read for all calls in a turn of the event loop. For polls of devices it takes a sixth of the CPU time on
 * Postgres, and half on SQLite. Callers share the rows: they must not change them.
 * @param keyOf the key that a row was read by
 */
export function readTogether<Row>(
  read: (keys: string[]) => PromiseLike<Row[]>,
  keyOf: (row: Row) => string,
): (key: string) => Promise<Row | undefined> {
  return openReads(async (keys) => {
    const rows = new Map((await read(keys)).map((row) => [keyOf(row), row]));
    return keys.map((key) => rows.get(key));
  });
}

/** Makes one read for all calls with a key in a turn of the event loop. Callers share the value. */
export function readOnce<Key, Value>(read: (key: Key) => Promise<Value>): (key: Key) => Promise<Value> {
  return openReads((keys) => Promise.all(keys.map(read)));
}

function openReads<Key, Value>(flush: (keys: Key[]) => Promise<Value[]>): (key: Key) => Promise<Value> {
  const once = { when: () => nextTurn(), keyOf: (key: Key) => key, maxItems: maxKeys, overlaps: true };
  return openGatherer<Key, Value>({ flush: flush as GathererOptions<Key, Value>["flush"], ...once }).add;
}

/** Finds the key to drop. Of several owners that have most, it takes the one that came last. */
function leastWanted<Item>(entries: Map<unknown, { item: Item }>, { ownerOf }: Kept<Item>): unknown {
  if (!ownerOf) return entries.keys().next().value;
  const owners = Map.groupBy(entries, ([, { item }]) => ownerOf(item)).values();
  const [largest = []] = [...owners].sort((a, b) => b.length - a.length);
  return largest.at(-1)?.[0];
}
