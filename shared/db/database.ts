import type { SQL } from "drizzle-orm";
import type { BaseSQLiteDatabase, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Dialect } from "./columns.ts";
import type { Tables } from "./schema.ts";

type Queries = BaseSQLiteDatabase<"async", unknown>;

/** What can be done inside a transaction: read the newest state, and write. */
export interface Tx extends Pick<Queries, "select" | "insert" | "update" | "delete"> {
  readonly tables: Tables;
  /** The time now, by the clock that the database was opened with. */
  readonly now: Date;
  /** Insert many rows in the fastest way that the dialect has. Every column must be given, null included. */
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

/** The database: reads go straight to it, every write goes through a transaction. */
export interface Db extends Pick<Queries, "select"> {
  readonly tables: Tables;
  readonly dialect: Dialect;
  /**
   * All of `work` or none of it. Work may run more than once (a lost race on Postgres), so it changes nothing
   * but the database, and it waits for nothing but the database.
   * @throws DatabaseUnavailable when the database cannot be reached, is locked too long or has no room
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Give pages that deletions have freed back to the file system, at most this many; returns how many. */
  vacuum(maxPages: number): Promise<number>;
  close(): Promise<void>;
}

/** The database cannot serve now, whatever the statement; the same call may succeed later. */
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

/** The error of a driver, unwrapped from drizzle's; a fault of the database itself becomes DatabaseUnavailable. */
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

/** Whether a statement failed because a row with the same unique key exists, in either dialect. */
export function isUniqueViolation(error: unknown): boolean {
  const code = (rootCause(error) as { code?: unknown } | undefined)?.code;
  return code === "SQLITE_CONSTRAINT_UNIQUE" || code === "SQLITE_CONSTRAINT_PRIMARYKEY" || code === "23505";
}

/** Whether a statement failed because the database is not migrated. */
export function isMissingTable(error: unknown): boolean {
  const root = rootCause(error) as { code?: unknown; message?: unknown } | undefined;
  return root?.code === "42P01" || /^no such table/.test(String(root?.message));
}

export function rootCause(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && root.cause !== undefined) root = root.cause;
  return root;
}
