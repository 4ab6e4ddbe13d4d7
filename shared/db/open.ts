import { type Clock, systemClock } from "../runtime/clock.ts";
import type { Db } from "./database.ts";
import { openPostgres } from "./postgres.ts";
import { openSqlite } from "./sqlite.ts";

export interface DatabaseOptions {
  /** `file:<path>` or `postgres://…`. */
  url: string;
  poolSize: number;
  /** Default: the machine's. */
  clock?: Clock;
  /** How long a write waits for a locked SQLite database, in milliseconds. */
  timeoutMs: number;
  onError: (error: Error) => void;
  /** Hears how long each write transaction kept others waiting: SQLite's write lock, or its rows on Postgres. */
  onLockReleased?: (seconds: number) => void;
}

/** Open the database that the address names. It is not migrated here; see `migrate.ts`. */
export function openDatabase(options: DatabaseOptions): Db {
  const { url, clock = systemClock } = options;
  const all = { ...options, clock };
  return isSqliteUrl(url) ? openSqlite(sqliteFile(url), all) : openPostgres(url, all);
}

export function isSqliteUrl(url: string): boolean {
  return url.startsWith("file:");
}

export function sqliteFile(url: string): string {
  return url.slice("file:".length);
}
