import { asc, count, inArray, type SQL } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Reader, Tx } from "./database.ts";

/** Finds the one row that matches. */
export async function findRow<T extends SQLiteTable>(
  db: Reader | Tx,
  table: T,
  where: SQL | undefined,
): Promise<T["$inferSelect"] | undefined> {
  const [found] = await db
    .select()
    .from(table as SQLiteTable)
    .where(where);
  return found as T["$inferSelect"] | undefined;
}

export async function countRows(
  db: Reader | Tx,
  table: SQLiteTable,
  where: SQL | undefined,
): Promise<number> {
  const [row] = await db.select({ total: count() }).from(table).where(where);
  return row?.total ?? 0;
}

/**
 * Deletes up to `limit` rows.
 * @param rows.oldestBy the column of the index that the search follows
 * @returns the number deleted
 */
export async function deleteRows(
  tx: Tx,
  rows: { key: SQLiteColumn; where: SQL | undefined; oldestBy?: SQLiteColumn },
  limit: number,
): Promise<number> {
  const { key, where, oldestBy } = rows;
  const order = oldestBy ? [asc(oldestBy)] : [];
  const found = tx
    .select({ key })
    .from(key.table)
    .where(where)
    .orderBy(...order)
    .limit(limit);
  return (await tx.delete(key.table).where(inArray(key, found)).returning({ key })).length;
}
