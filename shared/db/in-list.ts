import { is, type SQL, sql } from "drizzle-orm";
import { PgColumn } from "drizzle-orm/pg-core";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

const asJson = { mapToDriverValue: (list: unknown) => JSON.stringify(list) };

/** For prepared queries: the whole list is one placeholder, so the statement is the same for lists of any length. */
export function inList(column: SQLiteColumn, name: string): SQL {
  return is(column, PgColumn)
    ? sql`${column} = any(${sql.placeholder(name)})`
    : sql`${column} in (select value from json_each(${sql.param(sql.placeholder(name), asJson)}))`;
}
