import type { SQL } from "drizzle-orm";
import type { BaseSQLiteDatabase, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Dialect } from "./columns.ts";
import type { Tables } from "./schema.ts";

type Queries = BaseSQLiteDatabase<"async", unknown>;

/** A transaction: reads the newest state, and writes. */
export interface Tx extends Pick<Queries, "select" | "insert" | "update" | "delete"> {
  readonly tables: Tables;
  /** The time now, by the clock of the database. */
  readonly now: Date;
  /** Inserts rows in the fastest way of the dialect. Give every column, null included. */
  insertMany<T extends SQLiteTable>(table: T, rows: T["$inferSelect"][]): Promise<void>;
  /**
   * Locks rows, in the order of their primary key, until the transaction ends. Returns them as they are once locked.
   * FOR NO KEY UPDATE, or FOR SHARE, which does not exclude other shared locks. Reads elsewhere do not wait.
   * On SQLite a plain select: a transaction is the only writer from its start.
   */
  lock<T extends SQLiteTable>(
    table: T,
    where: SQL | undefined,
    strength: "exclusive" | "shared",
  ): Promise<T["$inferSelect"][]>;
}

/** The database. Every write goes through a transaction. */
export interface Db extends Pick<Queries, "select"> {
  readonly tables: Tables;
  readonly dialect: Dialect;
  /**
   * Runs all of `work` or none of it. Work may run again after a lost race on Postgres: it changes nothing but the
   * database, and waits for nothing else.
   * @throws DatabaseUnavailable when the database cannot be reached, is locked too long or has no room
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Returns free pages to the file system, at most this many. @returns their number */
  vacuum(maxPages: number): Promise<number>;
  close(): Promise<void>;
}

/** The database cannot serve any statement now. The same call may succeed later. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
}

const unavailableCodes = [
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|NOMEM|PROTOCOL)/,
  /^E(CONNREFUSED|CONNRESET|NOTFOUND|TIMEDOUT|PIPE|HOSTUNREACH|AI_AGAIN)$/,
  /^(08|53|57P|25006)/, // connection exceptions, insufficient resources, operator intervention, read-only
  /^57014$/, // cancelled by statement_timeout
  /^42P01$/, // a table is missing: not migrated yet
];
const unavailableMessages =
  /^no such table|Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed/;

/** Unwraps a driver's error; a fault of the database itself becomes DatabaseUnavailable. */
export function translateError(error: unknown): unknown {
  const root = rootCause(error);
  if (!(root instanceof Error)) return error;
  const code = String((root as { code?: unknown }).code ?? "");
  const isAway =
    unavailableCodes.some((pattern) => pattern.test(code)) || unavailableMessages.test(root.message);
  return isAway
    ? new DatabaseUnavailable(`The database is unavailable: ${root.message}`, { cause: root })
    : error;
}

/** Returns true if a row with the same unique key exists. */
export function isUniqueViolation(error: unknown): boolean {
  const code = (rootCause(error) as { code?: unknown } | undefined)?.code;
  return code === "SQLITE_CONSTRAINT_UNIQUE" || code === "SQLITE_CONSTRAINT_PRIMARYKEY" || code === "23505";
}

/** Returns true if the database is not migrated. */
export function isMissingTable(error: unknown): boolean {
  const root = rootCause(error) as { code?: unknown; message?: unknown } | undefined;
  return root?.code === "42P01" || /^no such table/.test(String(root?.message));
}

export function rootCause(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && root.cause !== undefined) root = root.cause;
  return root;
}
