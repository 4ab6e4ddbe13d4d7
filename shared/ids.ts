import { randomFillSync } from "node:crypto";
import { v7, validate } from "uuid";

// Randomness is drawn a few hundred ids at a time: a system call for each id shows on hot paths.
const randomBytesPerId = 16;
const pool = Buffer.alloc(randomBytesPerId * 256);
let poolAt = pool.length;

let lastMs = 0;
let sequence = 0;

/**
 * A new id. UUIDv7 carries its time, so ids made later sort later; of one process and millisecond, those made
 * later have the higher sequence.
 */
export function newId(now: Date): string {
  if (poolAt === pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  const random = pool.subarray(poolAt, poolAt + randomBytesPerId);
  poolAt += randomBytesPerId;

  const msecs = now.getTime();
  // A new millisecond starts anywhere in the lower half of the 32 bits, which leaves room to count.
  sequence = msecs === lastMs ? sequence + 1 : random.readUInt32BE(0) >>> 1;
  lastMs = msecs;
  return v7({ msecs, seq: sequence, random });
}

/** Ids of one group, rising in the order of the group. */
export function newIds(now: Date, count: number): string[] {
  return Array.from({ length: count }, () => newId(now));
}

/** The smallest id that could have been made at this time: rows older than it sort before. */
export function lowestIdAt(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** Ids in paths are compared in the one form that is stored; anything else is just not found. */
export function isId(text: string): boolean {
  return validate(text) && text === text.toLowerCase();
}
