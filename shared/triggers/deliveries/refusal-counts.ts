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
  let noted = new Map<string, RefusalCount>();

  const add = (row: RefusalCount) => {
    const key = `${row.triggerId} ${row.hour.getTime()} ${row.cause}`;
    const present = noted.get(key);
    if (present) present.count += row.count;
    else if (noted.size < maxInMemory) noted.set(key, row);
  };
  const write = async () => {
    if (noted.size === 0) return;
    const taken = noted;
    noted = new Map();
    // In one order: two processes that write the same rows must not wait for each other.
    const rows = [...taken].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    try {
      await db.transaction((tx) => addRefusalCounts(tx, rows));
    } catch (error) {
      log.debug({ err: error }, "counts of refused deliveries wait for the database");
      rows.forEach(add);
    }
  };
  // One after the other: who closes waits for what is on its way, and for what that could not write.
  let written = Promise.resolve();
  const flush = () => {
    written = written.then(write);
    return written;
  };
  const timer = setInterval(flush, flushEveryMs);
  timer.unref();

  return {
    count: (triggerId, cause) => add({ triggerId, hour: hourOf(clock.now()), cause, count: 1 }),
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
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
