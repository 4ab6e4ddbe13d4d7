import { and, eq, sql } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { findRow } from "../../db/rows.ts";
import type { Tables } from "../../db/schema.ts";

export type FilterMisses = Tables["filterMisses"]["$inferSelect"];

/** The misses of the trigger's present filter. */
export async function findFilterMisses(
  db: Db,
  { id, filter }: { id: string; filter: string | null },
): Promise<FilterMisses | undefined> {
  const { filterMisses } = db.tables;
  if (filter === null) return undefined;
  return findRow(db, filterMisses, and(eq(filterMisses.triggerId, id), eq(filterMisses.filter, filter)));
}

/** Counts a miss, from 1 for another filter. Locks the row. @returns the count */
export async function addMiss(tx: Tx, miss: Omit<FilterMisses, "count">): Promise<number> {
  const { filterMisses } = tx.tables;
  const [row] = await tx
    .insert(filterMisses)
    .values({ ...miss, count: 1 })
    .onConflictDoUpdate({
      target: filterMisses.triggerId,
      set: {
        filter: miss.filter,
        retryAt: miss.retryAt,
        count: sql`case when ${filterMisses.filter} = excluded.filter then ${filterMisses.count} + 1 else 1 end`,
      },
    })
    .returning({ count: filterMisses.count });
  return row?.count ?? 1;
}

export async function setRetryAt(tx: Tx, triggerId: string, retryAt: Date): Promise<void> {
  const { filterMisses } = tx.tables;
  await tx.update(filterMisses).set({ retryAt }).where(eq(filterMisses.triggerId, triggerId));
}

/** Of concurrent calls exactly one returns true. */
export async function takeRetry(tx: Tx, misses: FilterMisses, nextRetryAt: Date): Promise<boolean> {
  const { filterMisses } = tx.tables;
  const taken = await tx
    .update(filterMisses)
    .set({ retryAt: nextRetryAt })
    .where(
      and(
        eq(filterMisses.triggerId, misses.triggerId),
        eq(filterMisses.filter, misses.filter),
        eq(filterMisses.retryAt, misses.retryAt),
      ),
    )
    .returning({ count: filterMisses.count });
  return taken.length > 0;
}

export async function deleteMisses(tx: Tx, triggerId: string): Promise<void> {
  const { filterMisses } = tx.tables;
  await tx.delete(filterMisses).where(eq(filterMisses.triggerId, triggerId));
}
