import { createPeriodicFlush } from "../../runtime/batcher.ts";
import type { Services } from "../../runtime/services.ts";
import type { RefusalCause } from "../../vocabulary.ts";
import { addRefusalCounts, deleteRefusalCountsBefore, type RefusalCount } from "./refusal-counts-store.ts";

const flushEveryMs = 5000;
/** Counts in memory while the database is away: each is of another trigger, hour or cause. */
const maxInMemory = 10_000;
const hourMs = 3_600_000;
export const refusalRetentionDays = 7;

/**
 * Counts of deliveries that a trigger refused, on their way to the database without a write for each: anybody who
 * knows a URL can make as many as they like. What a crash takes along is missed by nobody but these counts.
 */
export interface RefusalCounts {
  count(triggerId: string, cause: RefusalCause): void;
  /** Write down what was noted. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function openRefusalCounts({ db, clock, log }: Services): RefusalCounts {
  const store = async (counts: Map<string, RefusalCount>) => {
    // One order for all processes: two that write the same rows would otherwise deadlock.
    const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    try {
      await db.transaction((tx) => addRefusalCounts(tx, rows));
      return true;
    } catch (error) {
      log.debug({ err: error }, "counts of refused deliveries wait for the database");
      return false;
    }
  };
  const counts = createPeriodicFlush<RefusalCount>({
    everyMs: flushEveryMs,
    maxItems: maxInMemory,
    whenFull: "drop new",
    merge: (earlier, later) => ({ ...earlier, count: earlier.count + later.count }),
    store,
  });

  return {
    count(triggerId, cause) {
      const hour = hourOf(clock.now());
      counts.add(`${triggerId} ${hour.getTime()} ${cause}`, { triggerId, hour, cause, count: 1 });
    },
    flush: counts.flush,
    close: counts.close,
  };
}

/** The beginning of the hour of a time. */
function hourOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / hourMs) * hourMs);
}

/** The first hour that is still kept. */
export function refusalsKeptSince(now: Date): Date {
  return hourOf(new Date(now.getTime() - refusalRetentionDays * 24 * hourMs));
}

/** Forget counts past their retention. Returns how many went. */
export async function purgeRefusalCounts({ db, clock }: Services): Promise<number> {
  return db.transaction((tx) => deleteRefusalCountsBefore(tx, refusalsKeptSince(clock.now())));
}
