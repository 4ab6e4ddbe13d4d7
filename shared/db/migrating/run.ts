import { secondMs } from "../../durations.ts";
import { adopt } from "./adoption.ts";
import { failureOf } from "./failed.ts";
import { type Migration, migrationsTable } from "./migrations.ts";
import { insertApplied, newestOf, type Report, readApplied, type Target } from "./target.ts";

/**
 * Runs the pending migrations. A run that is killed anywhere is completed by the next: one transaction adds all tables
 * and columns and records the migration with the time 0; filling and building leave out what is done; then one transaction
 * drops the indexes that were replaced, and gives the migration its time. A new database gets one line for all, as its
 * tables are empty and no migration takes long.
 */
export async function runMigrations(target: Target, migrations: Migration[], report: Report): Promise<void> {
  await target.change([`CREATE TABLE IF NOT EXISTS "${migrationsTable}" ${columnsOf[target.dialect]}`]);
  await adopt(target, migrations, report);
  const rows = await readApplied(target);
  const newest = newestOf(rows);
  const begun = new Set(rows.filter(({ when }) => when === 0).map(({ hash }) => hash));
  const isNew = rows.length === 0;
  const reportEach: Report = isNew ? () => {} : report;
  const pending = migrations.filter(({ when }) => when > newest);
  const begunAt = performance.now();
  for (const migration of pending) {
    const startedAt = performance.now();
    reportEach(`${migration.tag}: begins`);
    try {
      await runOne(target, migration, begun.has(migration.hash));
    } catch (error) {
      throw failureOf(migration.tag, error, target.url);
    }
    reportEach(`${migration.tag}: ${doneSince(startedAt)}`);
  }
  if (isNew) report(`${pending.length} migrations: ${doneSince(begunAt)}`);
}

function doneSince(startedAt: number): string {
  return `done in ${((performance.now() - startedAt) / secondMs).toFixed(1)} s`;
}

async function runOne(
  target: Target,
  { hash, when, additions, backfills, indexes, drops }: Migration,
  isBegun: boolean,
): Promise<void> {
  if (!isBegun) await target.change([...additions, insertApplied(hash, 0)]);
  for (const backfill of backfills) await target.fill(backfill);
  for (const index of indexes) await target.buildIndex(index);
  const done = `UPDATE "${migrationsTable}" SET created_at = ${when} WHERE hash = '${hash}'`;
  await target.change([...drops, done]);
}

/** As drizzle's own migrator makes it. */
const columnsOf = {
  sqlite: "(id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)",
  postgres: "(id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint)",
};
