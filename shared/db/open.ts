import { type Clock, systemClock } from "../runtime/clock.ts";
import type { Db } from "./database.ts";
import { openPostgres } from "./postgres.ts";
import { openSqlite } from "./sqlite.ts";

export interface DatabaseOptions {
  /** `file:<path>` or `postgres://…`. */
  url: string;
  poolSize: number;
  clock?: Clock;
  /** Wait of a write for a locked SQLite database. */
  timeoutMs: number;
  onError: (error: Error) => void;
  /** Gets the seconds that a write locked SQLite, or its rows on Postgres. */
  onLockReleased?: (seconds: number) => void;
}

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
