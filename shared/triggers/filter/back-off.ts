// A filter that misses its deadline three times in a row backs off. Its deliveries wait, and one of them tries the
// filter after 10 s, 20 s, 40 s … up to 10 min. An evaluation in time ends the back-off; so does another filter, for
// which the row is stale.

import type { Db } from "../../db/database.ts";
import { minuteMs, secondMs } from "../../durations.ts";
import { addMiss, type FilterMisses, setRetryAt, takeRetry } from "./misses-store.ts";

const missesBeforeBackOff = 3;
const firstDelayMs = 10 * secondMs;
const maxDelayMs = 10 * minuteMs;

export function isBackingOff(misses: FilterMisses | null | undefined): misses is FilterMisses {
  return !!misses && misses.count >= missesBeforeBackOff;
}

function nextRetryAt(count: number, now: Date): Date {
  const delayMs = Math.min(maxDelayMs, firstDelayMs * 2 ** (count - missesBeforeBackOff));
  return new Date(now.getTime() + (count < missesBeforeBackOff ? 0 : delayMs));
}

/** @returns the misses of the filter, this one included */
export function recordMiss(
  db: Db,
  { triggerId, filter }: Pick<FilterMisses, "triggerId" | "filter">,
  now: Date,
): Promise<FilterMisses> {
  return db.transaction(async (tx) => {
    const count = await addMiss(tx, { triggerId, filter, retryAt: now });
    const retryAt = nextRetryAt(count, now);
    await setRetryAt(tx, triggerId, retryAt);
    return { triggerId, filter, count, retryAt };
  });
}

/**
 * Starts the next try of a filter that backs off, if it is due and no other worker starts it.
 * @returns true if the caller may evaluate the filter once
 */
export async function startRetry(db: Db, misses: FilterMisses, now: Date): Promise<boolean> {
  if (misses.retryAt > now) return false;
  return db.transaction((tx) => takeRetry(tx, misses, nextRetryAt(misses.count, now)));
}
