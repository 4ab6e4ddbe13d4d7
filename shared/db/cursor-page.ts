import { and, asc, desc, gt, lt, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { Refusal } from "../refusal.ts";

/** At most one of the two ids is set. */
export interface CursorPage {
  limit: number;
  olderThan?: string;
  newerThan?: string;
  /** The order of the list. Default: newest first. */
  isOldestFirst?: boolean;
}

/** The clauses of the statement that reads a page. */
export interface Clauses {
  condition: SQL | undefined;
  order: SQL;
  limit: number;
}

/** Rows in the order of the list, and one more at the far end if there is one. */
export async function selectPage<Row>(
  id: SQLiteColumn,
  { limit, olderThan, newerThan, isOldestFirst = false }: CursorPage,
  select: (clauses: Clauses) => PromiseLike<Row[]>,
): Promise<Row[]> {
  const isAscending = Boolean(newerThan) || (isOldestFirst && !olderThan);
  const below = olderThan ? lt(id, olderThan) : undefined;
  const rows = await select({
    condition: newerThan ? gt(id, newerThan) : below,
    order: isAscending ? asc(id) : desc(id),
    limit: limit + 1,
  });
  return isAscending === isOldestFirst ? rows : rows.reverse();
}

interface SliceQuery {
  limit(count: number): { as(name: string): SQLWrapper; offset(count: number): PromiseLike<unknown[]> };
}

type Equality = [column: SQLiteColumn, value: string];

/** Returns the filters that have a value. */
export function presentFilters(filters: [SQLiteColumn, string | undefined][]): Equality[] {
  return filters.filter((each): each is Equality => Boolean(each[1]));
}

/**
 * Finds the rows of a page whose columns equal values that no index has in the order of the page.
 * @param search.slice makes a query of columns, of the rows that an index finds, in the order of the page
 * @param search.size rows that are looked at, at most
 * @param search.select reads the rows of a condition, at most `limit` of them
 * @throws Refusal 503 if it has to look at too many
 */
export async function selectFromSlice<Row>(
  id: SQLiteColumn,
  search: {
    slice: (columns: Record<string, SQLiteColumn>) => SliceQuery;
    size: number;
    equal: Equality[];
    limit: number;
    select: (where: SQL) => PromiseLike<Row[]>;
    refusal: string;
  },
): Promise<Row[]> {
  const { size, equal, limit, select, refusal } = search;
  const slice = () => search.slice(columnsOfSlice(id, equal));
  const rows = await select(
    sql`${id} in (select id from ${slice().limit(size).as("slice")} where ${matchesInSlice(equal)})`,
  );
  const isCut = rows.length < limit && (await slice().limit(1).offset(size)).length > 0;
  if (isCut) throw new Refusal(503, refusal);
  return rows;
}

/** The id of a row, and the columns that are compared. */
export function columnsOfSlice(id: SQLiteColumn, equal: Equality[]): Record<string, SQLiteColumn> {
  return Object.fromEntries([id, ...equal.map(([column]) => column)].map((each) => [each.name, each]));
}

/** The condition of a statement that reads from a subquery named `slice`. */
export function matchesInSlice(equal: Equality[]): SQL | undefined {
  return and(
    sql`true`,
    ...equal.map(([{ name }, value]) => sql`${sql.identifier("slice")}.${sql.identifier(name)} = ${value}`),
  );
}
