import { setTimeout as sleep } from "node:timers/promises";
import type { Db, Tx } from "../db/database.ts";
import { rememberRecent } from "../sharing/recent.ts";

/** The rest after a transaction, as a multiple of the time that it took, the wait for SQLite's lock included. */
const restFactor = 3;
const maxRestMs = 100;
const maxOwners = 10_000;

/** Runs a transaction of an organization. */
export type Paced = <Result>(organizationId: string, work: (tx: Tx) => Promise<Result>) => Promise<Result>;

/**
 * Lets builds go first: who sends messages must not keep SQLite's lock from those who make builds. After a transaction its
 * organization rests. Those that come meanwhile begin together.
 */
export function openPace(db: Db): Paced {
  const restsUntil = rememberRecent<number>(maxOwners, { ttl: maxRestMs });
  const restOf = (organizationId: string) => (restsUntil.get(organizationId) ?? 0) - performance.now();
  return async (organizationId, work) => {
    for (let ms = restOf(organizationId); ms > 0; ms = restOf(organizationId)) await sleep(ms);
    const startedAt = performance.now();
    try {
      return await db.transaction(work);
    } finally {
      const endedAt = performance.now();
      restsUntil.set(organizationId, endedAt + Math.min(maxRestMs, restFactor * (endedAt - startedAt)));
    }
  };
}
