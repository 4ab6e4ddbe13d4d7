import { and, asc, count, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Db, Reader, Tx } from "./database.ts";

/** Rows of a list that are counted at most. */
export const maxCounted = 1000;
/** A read of more index entries leaves the event loop: these take about a millisecond. */
const maxEntriesOnLoop = 10_000;

/** The position of a row in its list: its build number, or its time of creation in milliseconds; and its id. */
export interface ListPosition {
  number: number;
  id: string;
}

/** A page of a list. It starts after a position, or else at an offset. */
export interface ListPage {
  limit: number;
  offset: number;
  after?: ListPosition | undefined;
  /** Called now and then during a long read. @throws if the caller has left */
  checkCaller?: (() => void) | undefined;
}

export interface ListedRows<Row> {
  rows: Row[];
  /** The position of the last row, if there are more. */
  next: ListPosition | undefined;
  /** Undefined if there are more than `maxCounted`, or if counting takes too long. */
  total: number | undefined;
}

/** @param entries that the read walks */
export function readerFor(db: Db, entries: number): Reader {
  return entries > maxEntriesOnLoop ? db.offLoop : db;
}

/** @param rows of the page, and one more if there is one */
export function listedRows<Row>(
  rows: Row[],
  { limit }: ListPage,
  { total, positionOf }: { total: number | undefined; positionOf: (row: Row) => ListPosition },
): ListedRows<Row> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, total, next: last && rows.length > limit ? positionOf(last) : undefined };
}

/** Undefined above `maxCounted`. */
export function capTotal(total: number): number | undefined {
  return total > maxCounted ? undefined : total;
}

type CreatedTable = SQLiteTable & { id: SQLiteColumn; createdAt: SQLiteColumn };

/**
 * A page of the rows that match, in order of creation.
 * @param columns default: all
 */
export async function listCreated<T extends CreatedTable, Name extends keyof T["$inferSelect"]>(
  db: Db,
  table: T,
  where: SQL | undefined,
  page: ListPage,
  columns?: Record<Name | "id" | "createdAt", SQLiteColumn>,
): Promise<ListedRows<Pick<T["$inferSelect"], Name>>> {
  const { limit, offset, after } = page;
  const total = capTotal(await countUpTo(db, table, where));
  if (total !== undefined && !after && offset >= total) return { rows: [], next: undefined, total };

  const { id, createdAt } = table as CreatedTable;
  const start = after && sql.param(new Date(after.number), createdAt);
  const rows = (await readerFor(db, after ? 0 : offset)
    .select(columns ?? getTableColumns(table))
    .from(table as CreatedTable)
    .where(and(where, after && sql`(${createdAt}, ${id}) > (${start}, ${sql.param(after.id, id)})`))
    .orderBy(asc(createdAt), asc(id))
    .limit(limit + 1)
    .offset(after ? 0 : offset)) as Pick<T["$inferSelect"], Name>[];
  return listedRows(rows, page, { total, positionOf: positionByCreation });
}

/** Counts no further than `limit`. */
export async function countUpTo(
  db: Reader | Tx,
  table: SQLiteTable,
  where: SQL | undefined,
  limit = maxCounted + 1,
): Promise<number> {
  const [row] = await selectCountUpTo(db, table, where, limit);
  return row?.total ?? 0;
}

/** The statement of `countUpTo`, to be prepared. */
export function selectCountUpTo(db: Reader | Tx, table: SQLiteTable, where: SQL | undefined, limit: number) {
  const some = db
    .select({ one: sql`1`.as("one") })
    .from(table)
    .where(where)
    .limit(limit)
    .as("some");
  return db.select({ total: count() }).from(some);
}

function positionByCreation({ createdAt, id }: Record<string, unknown>): ListPosition {
  return { number: (createdAt as Date).getTime(), id: id as string };
}
