import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Client from "better-sqlite3";
import { drizzle as drizzleSqlite } from "drizzle-orm/better-sqlite3";
import { migrate as migrateSqliteFolder } from "drizzle-orm/better-sqlite3/migrator";
import { drizzle as drizzlePostgres } from "drizzle-orm/node-postgres";
import { migrate as migratePostgresFolder } from "drizzle-orm/node-postgres/migrator";
import { Client as PostgresClient } from "pg";
import { minuteMs } from "../durations.ts";
import { type Dialect, kits } from "./columns.ts";
import type { Db } from "./database.ts";
import { isSqliteUrl, sqliteFile } from "./open.ts";

export const migrationsTable = "schema_migrations";
/** Arbitrary; unique among programs on this database. */
const advisoryLock = 731_904_226;
const lockWaitMs = minuteMs;

/** One process migrates at a time. */
export async function migrate(url: string): Promise<void> {
  if (isSqliteUrl(url)) migrateSqlite(sqliteFile(url));
  else await migratePostgres(url);
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

function migrateSqlite(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lock = new Client(`${file}.migrate`, { timeout: lockWaitMs });
  lock.exec("BEGIN EXCLUSIVE");
  try {
    if (!existsSync(file)) prepareSqliteFile(file);
    // Foreign keys would delete a recreated table's children: off here, checked afterwards.
    const client = new Client(file, { timeout: lockWaitMs });
    try {
      client.pragma("foreign_keys = OFF");
      migrateSqliteFolder(drizzleSqlite({ client }), { migrationsFolder: folder("sqlite"), migrationsTable });
      const broken = client.pragma("foreign_key_check") as unknown[];
      if (broken.length > 0) throw new Error(`Migration left ${broken.length} rows without their parent.`);
    } finally {
      client.close();
    }
  } finally {
    lock.exec("ROLLBACK");
    lock.close();
  }
}

/** SQLite silently ignores `auto_vacuum` after WAL or the first table. */
function prepareSqliteFile(file: string): void {
  const client = new Client(file);
  client.pragma("auto_vacuum = INCREMENTAL");
  client.pragma("journal_mode = WAL");
  client.close();
}

async function migratePostgres(url: string): Promise<void> {
  const client = new PostgresClient({ connectionString: url, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [advisoryLock]);
    await migratePostgresFolder(drizzlePostgres({ client }), {
      migrationsFolder: folder("postgres"),
      migrationsTable,
      migrationsSchema: "public",
    });
  } finally {
    await client.end(); // releases the lock
  }
}

function latestMigration(dialect: Dialect): number {
  return Math.max(...knownMigrations(dialect));
}

/** Returns the migrations by the times at which they were made, as their table in the database names them. */
export function knownMigrations(dialect: Dialect): number[] {
  const journal = JSON.parse(readFileSync(join(folder(dialect), "meta/_journal.json"), "utf8"));
  return journal.entries.map((entry: { when: number }) => entry.when);
}

function folder(dialect: Dialect): string {
  return join(import.meta.dirname, "migrations", dialect);
}
