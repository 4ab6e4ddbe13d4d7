import {
  and,
  asc,
  count,
  eq,
  type GetColumnData,
  getTableColumns,
  inArray,
  isNull,
  type Placeholder,
  type SQL,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Db, Reader, Tx } from "./database.ts";
import { countUpTo, type ListedRows, type ListPage, listCreated } from "./list-page.ts";
import type { Tables } from "./schema.ts";

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

interface Columns<Row> {
  /** The id of the owner: a cluster, an organization. */
  owner: keyof Row & string;
  /** The time since which a row is gone. Default: rows are deleted for good. */
  ended?: keyof Row & string;
}

/**
 * Makes the statements of a table whose rows have an owner. Rows that are gone are left out.
 * @param tableOf names the table
 */
export function ownedRows<Row extends { id: string }>(
  tableOf: (tables: Tables) => SQLiteTable,
  { owner, ended }: Columns<Row>,
) {
  const tableIn = ({ tables }: Reader | Tx) => {
    const table = tableOf(tables) as SQLiteTable & { id: SQLiteColumn; createdAt: SQLiteColumn };
    const columns = getTableColumns(table) as Record<string, SQLiteColumn>;
    return { table, columns: columns as typeof columns & { id: SQLiteColumn } };
  };
  const present = (columns: Record<string, SQLiteColumn>) =>
    ended === undefined ? undefined : isNull(columns[ended] as SQLiteColumn);
  const isOf = (columns: Record<string, SQLiteColumn>, ownerId: string | Placeholder): SQL | undefined =>
    and(eq(columns[owner] as SQLiteColumn, ownerId), present(columns));
  const listPage = listCreated<{ ownerId: string }, Row>((db) => {
    const { table, columns } = tableIn(db);
    return { table, where: isOf(columns, sql.placeholder("ownerId")) };
  });

  return {
    async find(db: Reader | Tx, ownerId: string, id: string): Promise<Row | undefined> {
      const { table, columns } = tableIn(db);
      const found = await findRow(db, table, and(eq(columns.id, id), isOf(columns, ownerId)));
      return found as Row | undefined;
    },

    /** All rows of the owner, oldest first. Call it where their number is limited. */
    async listAll(db: Reader | Tx, ownerId: string): Promise<Row[]> {
      const { table, columns } = tableIn(db);
      const rows = await db.select().from(table).where(isOf(columns, ownerId)).orderBy(asc(columns.id));
      return rows as unknown as Row[];
    },

    /** Oldest first. */
    listPage: (db: Db, ownerId: string, page: ListPage): Promise<ListedRows<Row>> =>
      listPage(db, { ownerId }, page),

    count(db: Reader | Tx, ownerId: string, limit: number): Promise<number> {
      const { table, columns } = tableIn(db);
      return countUpTo(db, table, isOf(columns, ownerId), limit);
    },

    async insert(tx: Tx, row: Row): Promise<void> {
      await tx.insert(tableIn(tx).table).values(row);
    },

    /** Locks a row. Undefined if it is gone. */
    async lock(tx: Tx, id: string): Promise<Row | undefined> {
      const { table, columns } = tableIn(tx);
      const [locked] = await tx.lock(table, and(eq(columns.id, id), present(columns)), "exclusive");
      return locked as Row | undefined;
    },

    /** Undefined if the row is gone. */
    async updateIfPresent(tx: Tx, id: string, change: Partial<Row>): Promise<Row | undefined> {
      const { table, columns } = tableIn(tx);
      const where = and(eq(columns.id, id), present(columns));
      const isEmpty = Object.values(change).every((value) => value === undefined); // which SQL does not allow
      const [updated] = isEmpty
        ? [await findRow(tx, table, where)]
        : await tx.update(table).set(change).where(where).returning();
      return updated as Row | undefined;
    },

    /** Deletes a row for good. Undefined if it is gone. */
    async deleteIfPresent(tx: Tx, id: string): Promise<Row | undefined> {
      const { table, columns } = tableIn(tx);
      const [deleted] = await tx.delete(table).where(eq(columns.id, id)).returning();
      return deleted as Row | undefined;
    },
  };
}
