import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { drizzle as drizzleSqlite } from "drizzle-orm/better-sqlite3";
import { migrate as migrateSqlite } from "drizzle-orm/better-sqlite3/migrator";
import { drizzle as drizzlePostgres } from "drizzle-orm/node-postgres";
import { migrate as migratePostgres } from "drizzle-orm/node-postgres/migrator";
import { Client } from "pg";
import { isSqliteUrl, sqliteFile } from "../../../shared/db/open.ts";

/** As many as the first release has. */
export const ofFirstRelease = 4;

/** Migrates with drizzle's own migrator, as versions did before the runner. @param count how many; default: all */
export async function migrateWithDrizzle(url: string, count = Number.POSITIVE_INFINITY): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-migrations-"));
  const dialect = isSqliteUrl(url) ? "sqlite" : "postgres";
  cpSync(join("shared/db/migrations", dialect), folder, { recursive: true });
  const journalFile = join(folder, "meta/_journal.json");
  const journal = JSON.parse(readFileSync(journalFile, "utf8"));
  writeFileSync(journalFile, JSON.stringify({ ...journal, entries: journal.entries.slice(0, count) }));
  const config = {
    migrationsFolder: folder,
    migrationsTable: "schema_migrations",
    migrationsSchema: "public",
  };
  if (dialect === "sqlite") {
    const client = new Sqlite(sqliteFile(url));
    client.pragma("journal_mode = WAL");
    client.pragma("foreign_keys = OFF");
    migrateSqlite(drizzleSqlite({ client }), config);
    client.close();
  } else {
    const client = new Client({ connectionString: url });
    await client.connect();
    await migratePostgres(drizzlePostgres({ client }), config);
    await client.end();
  }
  rmSync(folder, { recursive: true });
}
