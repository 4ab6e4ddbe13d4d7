import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

/**
 * The name of the key at the end of a sealed text: `Cipher.keyNames`. A literal, because a query must repeat its
 * index's expression. drizzle-kit splits it at commas for SQLite: correct the generated SQL.
 */
export function sealingKey(column: SQLiteColumn): SQL {
  return sql`substr(${column}, length(${column}) - 8)`;
}
