import { v7, validate } from "uuid";

/** A new id. UUIDv7 carries its time, so ids made later sort later. */
export function newId(now: Date): string {
  return v7({ msecs: now.getTime() });
}

/** Ids of one group, in the order of the group: within a millisecond the sequence rises. */
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
