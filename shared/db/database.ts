import { setTimeout as sleep } from "node:timers/promises";
import type { Placeholder, SQL } from "drizzle-orm";
import type { BaseSQLiteDatabase, SQLiteTable } from "drizzle-orm/sqlite-core";
import { Outage } from "../sharing/gatherer.ts";
import type { Dialect } from "./columns.ts";
import { findFault } from "./health/faults.ts";
import type { Tables } from "./schema.ts";

type Queries = BaseSQLiteDatabase<"async", unknown>;

export interface Tx extends Pick<Queries, "select" | "insert" | "update" | "delete"> {
  readonly tables: Tables;
  /** The database's clock. */
  readonly now: Date;
  /**
   * Give every column, null included.
   * @param onConflict `on conflict …`, in words that both databases have. A table has one at most
   */
  insertMany<T extends SQLiteTable>(table: T, rows: T["$inferSelect"][], onConflict?: string): Promise<void>;
  /**
   * SELECT … FOR NO KEY UPDATE or FOR SHARE, in primary-key order. A plain select on SQLite, which has one writer.
   * `if-free` is exclusive, and leaves out rows that another transaction has locked: `first` may choose among the others.
   */
  lock<T extends SQLiteTable>(
    table: T,
    where: SQL | undefined,
    strength: LockStrength,
    first?: First,
  ): Locking<T["$inferSelect"]>;
}

/** The rows to lock, of many. */
export interface First {
  orderBy: SQL;
  limit: Placeholder;
}

export type LockStrength = "exclusive" | "shared" | "if-free";

interface Locking<Row> extends PromiseLike<Row[]> {
  prepare(): { execute(values: Record<string, unknown>): PromiseLike<Row[]> };
}

export interface Reader extends Pick<Queries, "select"> {
  readonly tables: Tables;
}

/** The database. Every write goes through a transaction. */
export interface Db extends Reader {
  readonly dialect: Dialect;
  /** Runs reads that may take long. Organizations take turns. SQLite runs them in a thread, one after the other. */
  readonly offLoop: Reader;
  /**
   * Postgres may run `work` again after a lost race: it changes and awaits nothing but the database.
   * @throws DatabaseUnavailable when the database cannot be reached, is locked too long or has no room
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Resolves once all that was read so far is on disk. SQLite shows commits that are not. */
  sync(): Promise<void>;
  /** Returns the time of the database's machine. */
  readClock(): Promise<Date>;
  measureSize(): Promise<DatabaseSize>;
  /** @returns the number of pages given to the file system */
  vacuum(maxPages: number): Promise<number>;
  close(): Promise<void>;
}

export interface DatabaseSize {
  bytes: number;
  /** The size of the write-ahead log. Undefined on Postgres if our user may not read it. */
  logBytes: number | undefined;
  /** The free bytes of the disk. Undefined on Postgres. */
  freeBytes: number | undefined;
}

/** The same call may succeed later. */
export class DatabaseUnavailable extends Outage {
  override readonly name = "DatabaseUnavailable";
}

/** A sync failed, and the kernel may have dropped pages. Nothing is written until the next start has copied the file. */
export class SyncFailed extends DatabaseUnavailable {}

/** The process has to end: it keeps the file locked. */
export class CopyFailed extends SyncFailed {}

/** Another start cannot help before there is room for the copy. */
export class NeedsRoom extends CopyFailed {}

/** The connection broke during COMMIT: the transaction may have happened. */
export class CommitUnknown extends DatabaseUnavailable {}

/** The connections to a database that restarts are back within a second or two. */
const lookUps = 4;
const lookUpAfterMs = 200;

/**
 * Runs a transaction. If its COMMIT is not answered, it asks `wasCommitted` for a row that only this transaction
 * writes.
 * @throws CommitUnknown if there is no such row
 */
export async function commitOrLookUp<T>(
  db: Db,
  work: (tx: Tx) => Promise<T>,
  wasCommitted: (result: T) => Promise<boolean>,
): Promise<T> {
  let result: T | undefined;
  const committing = db.transaction(async (tx) => {
    result = await work(tx);
    return result;
  });
  return committing.catch(async (error) => {
    if (!(error instanceof CommitUnknown)) throw error;
    for (let tries = 0; tries < lookUps; tries++) {
      await sleep(lookUpAfterMs * tries);
      if (await wasCommitted(result as T).catch(() => false)) return result as T;
    }
    throw error;
  });
}

/** A fault of the database itself becomes DatabaseUnavailable. */
export function translateError(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  const root = rootCause(error);
  if (!findFault(root)) return error;
  return new DatabaseUnavailable(`The database is unavailable: ${(root as Error).message}`, { cause: root });
}

export function isUniqueViolation(error: unknown): boolean {
  const code = (rootCause(error) as { code?: unknown } | undefined)?.code;
  return code === "SQLITE_CONSTRAINT_UNIQUE" || code === "SQLITE_CONSTRAINT_PRIMARYKEY" || code === "23505";
}

export function isMissingTable(error: unknown): boolean {
  const root = rootCause(error) as { code?: unknown; message?: unknown } | undefined;
  return root?.code === "42P01" || /^no such table/.test(String(root?.message));
}

export function rootCause(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && root.cause !== undefined) root = root.cause;
  return root;
}
