import { asc, count, type GetColumnData, inArray, type SQL } from "drizzle-orm";
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

interface DeletedRows {
  key: SQLiteColumn;
  where: SQL | undefined;
  /** The column of the index that the search follows. */
  oldestBy?: SQLiteColumn;
}

/** Deletes up to `limit` rows. Returns the number deleted. */
export async function deleteRows(tx: Tx, rows: DeletedRows, limit: number): Promise<number> {
  return (await deleteReturning(tx, { ...rows, returned: rows.key }, limit)).length;
}

/** As `deleteRows`. Returns a column of each deleted row. */
export async function deleteReturning<Column extends SQLiteColumn>(
  tx: Tx,
  { key, where, oldestBy, returned }: DeletedRows & { returned: Column },
  limit: number,
): Promise<GetColumnData<Column>[]> {
  const order = oldestBy ? [asc(oldestBy)] : [];
  const found = tx
    .select({ key })
    .from(key.table)
    .where(where)
    .orderBy(...order)
    .limit(limit);
  const deleted = await tx.delete(key.table).where(inArray(key, found)).returning({ returned });
  return deleted.map((row) => row.returned as GetColumnData<Column>);
}
