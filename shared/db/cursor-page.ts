import { and, asc, desc, gt, lt, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { Refusal } from "../refusal.ts";

/** At most one of the two ids is set. */
export interface CursorPage {
  limit: number;
  olderThan?: string;
  newerThan?: string;
}

/** Of the statement that reads a page. */
export interface Clauses {
  condition: SQL | undefined;
  order: SQL;
  limit: number;
}

/** Rows newest first, and one more at the far end if there is one. */
export async function selectPage<Row>(
  id: SQLiteColumn,
  { limit, olderThan, newerThan }: CursorPage,
  select: (clauses: Clauses) => PromiseLike<Row[]>,
): Promise<Row[]> {
  const further = limit + 1;
  if (newerThan) {
    const rows = await select({ condition: gt(id, newerThan), order: asc(id), limit: further });
    return rows.reverse();
  }
  return select({ condition: olderThan ? lt(id, olderThan) : undefined, order: desc(id), limit: further });
}

/** Rows that one page looks at, at most, for conditions that no index has. */
const maxSlice = 2000;

interface IdQuery {
  limit(count: number): { as(name: string): SQLWrapper; offset(count: number): PromiseLike<unknown[]> };
}

/**
 * The rows of a page that match conditions which no index has.
 * @param search.ids makes a query of the rows that an index finds, in the order of the page
 * @param search.select reads the rows of a condition, at most `limit` of them
 * @throws Refusal 503 if it has to look at too many
 */
export async function selectFromSlice<Row>(
  id: SQLiteColumn,
  search: {
    ids: () => IdQuery;
    conditions: SQL[];
    limit: number;
    select: (where: SQL | undefined) => PromiseLike<Row[]>;
    refusal: string;
  },
): Promise<Row[]> {
  const { ids, conditions, limit, select, refusal } = search;
  const isInSlice = sql`${id} in (select id from ${ids().limit(maxSlice).as("slice")})`;
  const rows = await select(and(isInSlice, ...conditions));
  const isCut = rows.length < limit && (await ids().limit(1).offset(maxSlice)).length > 0;
  if (isCut) throw new Refusal(503, refusal);
  return rows;
}
