import { dayMs, hourOf } from "../../durations.ts";
import type { Topic } from "../../redis/events.ts";
import { expiring } from "../../retention/expiring.ts";
import type { Services } from "../../services/services.ts";
import { openGatherer, pause } from "../../sharing/gatherer.ts";
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

export function openRefusalCounts({ db, clock, events, log }: Services): RefusalCounts {
  const keyOf = ({ triggerId, hour, cause }: OwnedRefusalCount) => `${triggerId} ${hour.getTime()} ${cause}`;
  const counts = openGatherer<OwnedRefusalCount>({
    when: (_, hurry) => pause(flushEveryMs, hurry),
    keyOf,
    merge: (earlier, later) => ({ ...earlier, count: earlier.count + later.count }),
    async flush(rows) {
      // Different orders would deadlock.
      const sorted = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      await db.transaction((tx) => addRefusalCounts(tx, sorted));
      events.publish(rows.map(({ triggerId }): Topic => `trigger:${triggerId}`)); // for open pages
    },
    kept: {
      max: maxInMemory,
      ownerOf: ({ organizationId }) => organizationId,
      onFailure: (error) => log.debug({ err: error }, "counts of refused deliveries wait for the database"),
    },
  });

  return {
    count({ id: triggerId, organizationId }, cause) {
      counts.put({ triggerId, organizationId, hour: hourOf(clock.now()), cause, count: 1 });
    },
    flush: counts.flush,
    close: counts.flush,
  };
}

export function refusalsSince(now: Date): Date {
  return hourOf(new Date(now.getTime() - refusalRetentionDays * dayMs));
}

export const oldRefusalCounts = expiring("refused", refusalsSince, deleteRefusalCountsBefore);
