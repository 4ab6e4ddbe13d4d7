import { asc, desc, gt, lt, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

/** A page of a list, newest first. At most one of the two ids is set. */
export interface CursorPage {
  limit: number;
  olderThan?: string;
  /** The rows nearest to it. */
  newerThan?: string;
}

interface Clauses {
  condition: SQL | undefined;
  order: SQL;
  limit: number;
}

/** Returns the rows of a page, newest first, and one more at its far end if there is one. */
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
