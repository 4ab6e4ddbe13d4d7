import { systemClock } from "../process/clock.ts";
import type { Db } from "./database.ts";
import type { DatabaseOptions } from "./options.ts";
import { openPostgres } from "./postgres.ts";
import { openSqlite } from "./sqlite/open.ts";

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
