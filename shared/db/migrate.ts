import { type Dialect, kits } from "./columns.ts";
import type { Db } from "./database.ts";
import { failure } from "./migrating/failed.ts";
import { migrationsTable, readJournal } from "./migrating/journal.ts";
import { migratePostgres } from "./migrating/postgres.ts";
import type { Report } from "./migrating/report.ts";
import { migrateSqlite } from "./migrating/sqlite.ts";
import { isSqliteUrl, sqliteFile } from "./open.ts";

/**
 * Runs the pending migrations beside processes that use the database. One process migrates at a time. A run that was
 * killed is completed by the next.
 * @throws MigrationFailed with the first cause and what to do
 */
export async function migrate(url: string, report: Report = () => {}): Promise<void> {
  try {
    if (isSqliteUrl(url)) await migrateSqlite(sqliteFile(url), report);
    else await migratePostgres(url, report);
  } catch (error) {
    throw failure(error, "The database could not be migrated", url);
  }
}

export async function hasPendingMigrations(db: Db): Promise<boolean> {
  const applied = appliedMigrations[db.dialect];
  const rows = await db.select({ when: applied.when }).from(applied);
  const newest = Math.max(0, ...rows.map((row) => Number(row.when)));
  return newest < latestMigration(db.dialect);
}

const defineApplied = (dialect: Dialect) =>
  kits[dialect].table(migrationsTable, { when: kits[dialect].text("created_at") });
const appliedMigrations = { sqlite: defineApplied("sqlite"), postgres: defineApplied("postgres") };

function latestMigration(dialect: Dialect): number {
  return Math.max(...knownMigrations(dialect));
}

/** Returns the migrations by the times at which they were made, as their table in the database names them. */
export function knownMigrations(dialect: Dialect): number[] {
  return readJournal(dialect).map(({ when }) => when);
}
