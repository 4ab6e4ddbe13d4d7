import { randomFillSync } from "node:crypto";
import { LRUCache } from "lru-cache";
import { v7, validate } from "uuid";

// Module state on purpose: ids of a process rise only if they come from one sequence. Random bytes are drawn for 256
// ids at a time, since a system call per id is slow.
const randomBytesPerId = 16;
const pool = Buffer.alloc(randomBytesPerId * 256);
let poolAt = pool.length;

/** The last sequence of recent milliseconds: callers with times of their own alternate between them. */
const sequences = new LRUCache<number, number>({ max: 1000 });

/**
 * Returns a UUIDv7. Ids of later milliseconds sort later. Those that one process makes of a millisecond rise, also if it
 * makes ids of others in between.
 */
export function newId(now: Date): string {
  if (poolAt === pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  const random = pool.subarray(poolAt, poolAt + randomBytesPerId);
  poolAt += randomBytesPerId;

  const msecs = now.getTime();
  // A new millisecond starts in the lower half of the 32 bits, to leave room for counting.
  const seq = (sequences.get(msecs) ?? random.readUInt32BE(0) >>> 1) + 1;
  sequences.set(msecs, seq);
  return v7({ msecs, seq, random });
}

/** Returns rising ids. */
export function newIds(now: Date, count: number): string[] {
  return Array.from({ length: count }, () => newId(now));
}

/** Greater than every id. */
export const idAboveAll = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Less than every id. */
export const idBelowAll = "00000000-0000-0000-0000-000000000000";

/** Returns the smallest id of this time: older ids sort before it. */
export function lowestIdAt(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the stored form of a UUID, and any other text unchanged. */
export function lowerCaseId(text: string): string {
  return uuid.test(text) ? text.toLowerCase() : text;
}

/** The time that was given to `newId`. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/** Accepts the stored form only, in lower case. */
export function isId(text: string): boolean {
  return validate(text) && text === text.toLowerCase();
}
