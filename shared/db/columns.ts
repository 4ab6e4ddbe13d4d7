import { count, is, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import * as postgres from "drizzle-orm/pg-core";
import * as sqlite from "drizzle-orm/sqlite-core";

/** Typed on the SQLite kit: use only features of both dialects. Without a name, a column is named as its member. */
const sqliteKit = {
  table: sqlite.sqliteTable,
  index: sqlite.index,
  uniqueIndex: sqlite.uniqueIndex,
  primaryKey: sqlite.primaryKey,
  foreignKey: sqlite.foreignKey,
  uuid: (name = "") => sqlite.text(name),
  text: (name = "") => sqlite.text(name),
  /** Ordered by its bytes, so that texts with one beginning are a range. */
  orderedText: (name = "") => sqlite.text(name),
  /** 32 bits on Postgres. */
  integer: (name = "") => sqlite.integer(name),
  /** Exact up to 2^53. */
  bigint: (name = "") => sqlite.integer(name),
  boolean: (name = "") => sqlite.integer(name, { mode: "boolean" }),
  /** UTC, milliseconds. */
  time: (name = "") => sqlite.integer(name, { mode: "timestamp_ms" }),
  json: <T>(name = "") => sqlite.text(name, { mode: "json" }).$type<T>(),
  bytes: (name = "") => sqlite.blob(name, { mode: "buffer" }),
};

/** The milliseconds between a time of a row and another one. */
export function elapsedMs(from: sqlite.SQLiteColumn, to: sqlite.SQLiteColumn | SQL): SQL {
  const isPostgres = is(from, postgres.PgColumn);
  return isPostgres ? sql`(extract(epoch from ${to} - ${from}) * 1000)` : sql`(${to} - ${from})`;
}

/** The size of a text or JSON column in bytes. Reads a long value only if it is JSON on Postgres. */
export function octetsOf(column: sqlite.SQLiteColumn): SQL {
  return is(column, postgres.PgJson) ? sql`octet_length(${column}::text)` : sql`octet_length(${column})`;
}

/** The number of rows that a query finds. Its limit bounds the work. */
export function countOf(rows: SQLWrapper): SQL<number> {
  return sql<number>`(select ${count()} from (${rows}) as some_rows)`.mapWith(Number);
}

/**
 * The name of the key at the end of a sealed text: `Cipher.keyNames`. A literal, because a query must repeat its
 * index's expression. drizzle-kit splits it at commas for SQLite: correct the generated SQL.
 */
export function sealingKey(column: sqlite.SQLiteColumn): SQL {
  return sql`substr(${column}, length(${column}) - 8)`;
}

export type Kit = typeof sqliteKit;

const bytea = postgres.customType<{ data: Buffer }>({ dataType: () => "bytea" });

/** SQLite orders by bytes anyway. */
const orderedText = postgres.customType<{ data: string }>({ dataType: () => `text collate "C"` });

const postgresKit = {
  table: postgres.pgTable,
  index: postgres.index,
  uniqueIndex: postgres.uniqueIndex,
  primaryKey: postgres.primaryKey,
  foreignKey: postgres.foreignKey,
  uuid: (name = "") => postgres.uuid(name),
  text: (name = "") => postgres.text(name),
  orderedText: (name = "") => orderedText(name),
  integer: (name = "") => postgres.integer(name),
  bigint: (name = "") => postgres.bigint(name, { mode: "number" }),
  boolean: (name = "") => postgres.boolean(name),
  time: (name = "") => postgres.timestamp(name, { withTimezone: true, precision: 3, mode: "date" }),
  /** `json`, not `jsonb`, which reorders keys and refuses some strings. */
  json: (name = "") => postgres.json(name),
  bytes: (name = "") => bytea(name),
};

export const kits = { sqlite: sqliteKit, postgres: postgresKit as unknown as Kit };
export type Dialect = keyof typeof kits;
