import { and, asc, count, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Db, Reader, Tx } from "./database.ts";
import { type Prepared, prepared, preparedRow, valueFor } from "./prepared.ts";

/** Rows of a list that are counted at most. */
export const maxCounted = 1000;
/** A read of more index entries leaves the event loop: these take about a millisecond. */
const maxEntriesOnLoop = 10_000;

/** The position of a row in its list: its build number, or its time of creation in milliseconds; and its id. */
export interface ListCursor {
  number: number;
  id: string;
}

/** A page of a list. It starts after a position, or else at an offset. */
export interface ListPage {
  limit: number;
  offset: number;
  after?: ListCursor | undefined;
  /** Called now and then during a long read. @throws if the caller has left */
  checkCaller?: (() => void) | undefined;
}

export interface ListedRows<Row> {
  rows: Row[];
  /** The position of the last row, if there are more. */
  next: ListCursor | undefined;
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
  { total, cursorOf }: { total: number | undefined; cursorOf: (row: Row) => ListCursor },
): ListedRows<Row> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, total, next: last && rows.length > limit ? cursorOf(last) : undefined };
}

/** Undefined above `maxCounted`. */
export function capTotal(total: number): number | undefined {
  return total > maxCounted ? undefined : total;
}

/** The condition has placeholders, with the names of filters. */
interface CreatedRows {
  table: SQLiteTable & { id: SQLiteColumn; createdAt: SQLiteColumn };
  where: SQL | undefined;
  /** Default: all. */
  columns?: Record<string, SQLiteColumn>;
}

/**
 * Makes a function that lists a page of rows in order of creation. Its statements are built once for each set of filters.
 * @param rowsOf chooses the rows by the names of the filters that are given: neither undefined nor false
 */
export function listCreated<Filter extends object, Row>(
  rowsOf: (db: Reader, given: ReadonlySet<string>) => CreatedRows,
): (db: Db, filter: Filter, page: ListPage) => Promise<ListedRows<Row>> {
  const known = new Map<string, ReturnType<typeof createdStatements<Row>>>();
  const statementsFor = (filter: Filter) => {
    const given = Object.entries(filter).flatMap(([name, value]) => ((value ?? false) !== false ? name : []));
    const key = given.join();
    const found = known.get(key) ?? createdStatements<Row>((db) => rowsOf(db, new Set(given)));
    known.set(key, found);
    return found;
  };
  return async (db, filter, page) => {
    const { limit, after } = page;
    const offset = after ? 0 : page.offset;
    const { count, first, next } = statementsFor(filter);
    const total = capTotal((await count(db, filter))?.total ?? 0);
    if (total !== undefined && !after && offset >= total) return { rows: [], next: undefined, total };
    const start = after && { afterTime: new Date(after.number), afterId: after.id };
    const values = { ...filter, ...start, limit: limit + 1, offset };
    const rows = await (after ? next : first)(readerFor(db, offset), values);
    return listedRows(rows, page, { total, cursorOf: cursorByCreation });
  };
}

function createdStatements<Row>(rowsOf: (db: Reader) => CreatedRows) {
  const select = (isNext: boolean) =>
    prepared<object, Row, Reader>((db) => {
      const { table, where, columns = getTableColumns(table) } = rowsOf(db);
      const { id, createdAt } = table;
      const start = sql`(${valueFor(createdAt, "afterTime")}, ${valueFor(id, "afterId")})`;
      const rows = db
        .select(columns)
        .from(table)
        .where(and(where, isNext ? sql`(${createdAt}, ${id}) > ${start}` : undefined))
        .orderBy(asc(createdAt), asc(id))
        .limit(sql.placeholder("limit"))
        .offset(sql.placeholder("offset"));
      return rows as unknown as { prepare(): Prepared<Row> };
    });
  const count = preparedRow<object, { total: number }, Db>((db) => {
    const { table, where } = rowsOf(db);
    return selectCountUpTo(db, table, where, maxCounted + 1);
  });
  return { count, first: select(false), next: select(true) };
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

function cursorByCreation(row: unknown): ListCursor {
  const { createdAt, id } = row as { createdAt: Date; id: string };
  return { number: createdAt.getTime(), id };
}
