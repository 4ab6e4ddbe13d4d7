import { type Batch, type Bounds, runBatches } from "../db/batches.ts";
import type { Tx } from "../db/database.ts";
import type { Tables } from "../db/schema.ts";
import type { Services } from "../services/services.ts";
import type { Config } from "../settings/config.ts";
import type { Expiry } from "./expiring.ts";
import { findExcess } from "./organizations.ts";
import { type ByteTotals, listOrganizationsOver, listOrganizationsToEvict } from "./totals-store.ts";

/** Stored bytes of organizations, which are totalled by the hour. */
export interface Evictable<Each extends Batch = Batch> {
  totals: (tables: Tables) => ByteTotals;
  expiry: Expiry;
  maxBytes: (config: Config) => number;
  /** Keeps the organization's totals from changing: two workers must not evict the same excess twice. */
  lock: (tx: Tx, organizationId: string) => Promise<unknown>;
  /** Deletes the next of what is old or excess, the oldest first, and subtracts it from the totals. */
  evictNext: (tx: Tx, scope: EvictionScope) => Promise<Each>;
}

export interface EvictionScope {
  organizationId: string;
  /** Everything older is deleted. */
  before: Date;
  /** Bytes over the limit; negative if there is room. */
  excess: number;
  after: string | undefined;
}

/**
 * Evicts the old and the excess of each organization, in small transactions. Over the limit of all that it stores, the
 * oldest go first, of whichever kind.
 * @param isClockTrusted false: evicts nothing by age
 * @param bounds of each organization, whose rest is left to the next run
 * @returns the number evicted
 */
export async function evict<Each extends Batch>(
  { db, clock, config }: Services,
  { totals, expiry, maxBytes, lock, evictNext }: Evictable<Each>,
  isClockTrusted: boolean,
  bounds: Bounds<Each>,
): Promise<number> {
  const before = isClockTrusted ? expiry(clock.now(), config) : new Date(0);
  const limit = maxBytes(config);
  const table = totals(db.tables);
  const organizationIds = new Set([
    ...(await listOrganizationsToEvict(db, table, { maxBytes: limit, time: before })),
    ...(await listOrganizationsOver(db, config.storedBytesPerOrganization)),
  ]);
  let evicted = 0;
  for (const organizationId of organizationIds)
    evicted += await runBatches(
      db,
      async (tx, after) => {
        await lock(tx, organizationId);
        const excess = await findExcess(tx, config, { organizationId, table, limit });
        return evictNext(tx, { organizationId, before, excess, after });
      },
      bounds,
    );
  return evicted;
}
