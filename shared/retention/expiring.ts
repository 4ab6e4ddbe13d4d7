import { changeInBatches } from "../db/batches.ts";
import type { Tx } from "../db/database.ts";
import { dayMs } from "../durations.ts";
import type { Services } from "../services/services.ts";
import type { Config } from "../settings/config.ts";

/** Rows that are deleted by age. A capability declares its own, and `purgeExpired` lists them. */
export interface Expiring {
  /** For the log. */
  name: string;
  purge(services: Services): Promise<number>;
}

/** Rows from before this time have expired. */
export type Expiry = (now: Date, config: Config) => Date;

export const atOnce: Expiry = (now) => now;

export function afterMs(age: number): Expiry {
  return (now) => new Date(now.getTime() - age);
}

export function afterDays(setting: Extract<keyof Config, `${string}RetentionDays`>): Expiry {
  return (now, config) => afterMs(config[setting] * dayMs)(now, config);
}

/** @param deleteBefore deletes up to `limit` rows in one statement, and returns their number */
export function expiring(
  name: string,
  expiry: Expiry,
  deleteBefore: (tx: Tx, time: Date, limit: number) => Promise<number>,
): Expiring {
  return {
    name,
    purge({ db, clock, config }) {
      const time = expiry(clock.now(), config);
      return changeInBatches(db, (tx, limit) => deleteBefore(tx, time, limit));
    },
  };
}

/** Purges one after the other. Returns the numbers deleted, by name. */
export async function purgeAll(
  services: Services,
  all: readonly Expiring[],
): Promise<Record<string, number>> {
  const deleted: Record<string, number> = {};
  for (const { name, purge } of all) deleted[name] = (deleted[name] ?? 0) + (await purge(services));
  return deleted;
}
