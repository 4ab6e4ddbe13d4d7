import { asc, desc, gt, lt, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

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
