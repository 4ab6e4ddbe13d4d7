import { type Dialect, kits } from "./columns.ts";
import type { Db } from "./database.ts";
import { failure } from "./migrating/failed.ts";
import { type Migration, migrationsTable, readList, readMigrations } from "./migrating/migrations.ts";
import { onPostgres } from "./migrating/postgres.ts";
import { runMigrations } from "./migrating/run.ts";
import { onSqlite } from "./migrating/sqlite.ts";
import type { Report, Target } from "./migrating/target.ts";
import { isSqliteUrl, sqliteFile } from "./open.ts";

/**
 * Runs the pending migrations beside processes that use the database. One process migrates at a time. A run that was
 * killed is completed by the next.
 * @throws MigrationFailed with the first cause and what to do
 */
export async function migrate(
  url: string,
  report: Report = () => {},
  migrations: Migration[] = readMigrations(isSqliteUrl(url) ? "sqlite" : "postgres"),
): Promise<void> {
  const run = (target: Target) => runMigrations(target, migrations, report);
  try {
    if (isSqliteUrl(url)) await onSqlite(sqliteFile(url), report, run);
    else await onPostgres(url, report, run);
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

/** Returns the time of the last migration, as its table in the database names it. */
export function latestMigration(dialect: Dialect): number {
  return Math.max(...readList().map((each) => each[dialect].when));
}
