import { type Clock, systemClock } from "../runtime/clock.ts";
import type { Db } from "./database.ts";
import { openPostgres } from "./postgres.ts";
import { openSqlite } from "./sqlite.ts";

export interface DatabaseOptions {
  /** `file:<path>` or `postgres://…`. */
  url: string;
  poolSize: number;
  clock?: Clock;
  /** Milliseconds that a write waits for a locked SQLite database. */
  timeoutMs: number;
  onError: (error: Error) => void;
  /** Called after each write transaction with the seconds that it locked SQLite, or its rows on Postgres. */
  onLockReleased?: (seconds: number) => void;
}

/** Opens a database without migrating it. */
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
