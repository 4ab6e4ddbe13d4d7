import { and, asc, gt, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Db } from "../db/database.ts";
import { type Prepared, preparedRow } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";
import { idBelowAll } from "../ids.ts";

export interface Owner {
  organizationId: string;
}

/**
 * Makes the search for the next organization, by its id, that has rows in a table.
 * @param columnOf names the table's column of organizations, with which an index begins
 * @param isMeant leaves out rows as that index does
 */
export function searchOfOwners(
  columnOf: (tables: Tables) => SQLiteColumn,
  isMeant?: (tables: Tables) => SQL,
): (db: Db, after: string | undefined) => Promise<Owner | undefined> {
  const next = preparedRow<{ after: string }, Owner, Db>((db) => {
    const organizationId = columnOf(db.tables);
    const isNext = and(gt(organizationId, sql.placeholder("after")), isMeant?.(db.tables));
    const found = db
      .select({ organizationId })
      .from(organizationId.table)
      .where(isNext)
      .orderBy(asc(organizationId))
      .limit(1);
    return found as unknown as { prepare(): Prepared<Owner> };
  });
  return (db, after = idBelowAll) => next(db, { after });
}
