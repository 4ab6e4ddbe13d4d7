import { randomFillSync } from "node:crypto";
import { v7, validate } from "uuid";

// Module state on purpose: ids of a process rise only if they come from one sequence. Random bytes are drawn for 256
// ids at a time, since a system call per id is slow.
const randomBytesPerId = 16;
const pool = Buffer.alloc(randomBytesPerId * 256);
let poolAt = pool.length;

let lastMs = 0;
let sequence = 0;

/**
 * Returns a UUIDv7. Later ids sort later, also within a millisecond of one process.
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
  sequence = msecs === lastMs ? sequence + 1 : random.readUInt32BE(0) >>> 1;
  lastMs = msecs;
  return v7({ msecs, seq: sequence, random });
}

/** Returns rising ids. */
export function newIds(now: Date, count: number): string[] {
  return Array.from({ length: count }, () => newId(now));
}

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
