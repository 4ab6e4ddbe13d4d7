import { dayMs, hourOf } from "../../durations.ts";
import type { Services } from "../../process/services.ts";
import { expiring } from "../../retention/expiring.ts";
import { createPeriodicFlush } from "../../sharing/periodic-flush.ts";
import type { RefusalCause } from "../../vocabulary.ts";
import {
  addRefusalCounts,
  deleteRefusalCountsBefore,
  type OwnedRefusalCount,
} from "./refusal-counts-store.ts";
import type { RefusedTrigger } from "./refusals.ts";

const flushEveryMs = 5000;
/** The limit while the database is away. Organizations share it. */
const maxInMemory = 2000;
export const refusalRetentionDays = 7;

/** Writes every five seconds: anybody who knows a URL can cause any number. A crash loses the rest. */
export interface RefusalCounts {
  count(trigger: RefusedTrigger, cause: RefusalCause): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function openRefusalCounts({ db, clock, log }: Services): RefusalCounts {
  const store = async (counts: Map<string, OwnedRefusalCount>) => {
    // Different orders would deadlock.
    const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    try {
      await db.transaction((tx) => addRefusalCounts(tx, rows));
      return true;
    } catch (error) {
      log.debug({ err: error }, "counts of refused deliveries wait for the database");
      return false;
    }
  };
  const counts = createPeriodicFlush<OwnedRefusalCount>({
    everyMs: flushEveryMs,
    maxItems: maxInMemory,
    whenFull: { ownerOf: ({ organizationId }) => organizationId },
    merge: (earlier, later) => ({ ...earlier, count: earlier.count + later.count }),
    store,
  });

  return {
    count({ id: triggerId, organizationId }, cause) {
      const hour = hourOf(clock.now());
      const row = { triggerId, organizationId, hour, cause, count: 1 };
      counts.add(`${triggerId} ${hour.getTime()} ${cause}`, row);
    },
    flush: counts.flush,
    close: counts.close,
  };
}

export function refusalsSince(now: Date): Date {
  return hourOf(new Date(now.getTime() - refusalRetentionDays * dayMs));
}

export const oldRefusalCounts = expiring("refused", refusalsSince, deleteRefusalCountsBefore);
