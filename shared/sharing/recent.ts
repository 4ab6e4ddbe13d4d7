import { LRUCache } from "lru-cache";

interface Options {
  /** Milliseconds after which an entry is forgotten. */
  ttl?: number;
  /** Counts the time anew when an entry is read. */
  updateAgeOnGet?: boolean;
}

/** Remembers the entries that were used last. An `LRUCache` with a `max` would allocate the room for all at once. */
export function rememberRecent<Value extends {}>(
  maxEntries: number,
  options: Options = {},
): LRUCache<string, Value> {
  return new LRUCache({ ...options, maxSize: maxEntries, sizeCalculation: () => 1 });
}
