import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Client from "better-sqlite3";
import { minuteMs, secondMs } from "../../durations.ts";
import { closeOrAbandon } from "../sqlite/abandon.ts";
import { copyAnewIfMarked } from "../sqlite/copy-anew.ts";
import { backfills } from "./backfills.ts";
import { failure } from "./failed.ts";
import { type Migration, migrationsTable, readMigrations } from "./journal.ts";
import type { Report } from "./report.ts";
import { rewrites } from "./rewrites.ts";
import { announce } from "./sqlite-estimate.ts";
import { rewriteTable } from "./sqlite-rewrite.ts";
import { execute, fillInBatches, inShortTransaction, inTransaction, isDone } from "./sqlite-steps.ts";
import { createdTables, type Statement } from "./statements.ts";

const lockWaitMs = minuteMs;

/**
 * Runs the pending migrations in short transactions, with rests in which others write. A run that is killed anywhere
 * is completed by the next: the schema tells what is done.
 */
export async function migrateSqlite(file: string, report: Report): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  copyAnewIfMarked(file);
  const lock = new Client(`${file}.migrate`, { timeout: lockWaitMs });
  lock.exec("BEGIN EXCLUSIVE");
  try {
    if (!existsSync(file)) prepareFile(file);
    const client = new Client(file, { timeout: lockWaitMs });
    let problem: unknown;
    try {
      await migrateFile(client, report);
    } catch (error) {
      problem = error;
      throw error;
    } finally {
      closeOrAbandon(client, file, problem);
    }
  } finally {
    lock.exec("ROLLBACK");
    lock.close();
  }
}

/** SQLite silently ignores `auto_vacuum` after WAL or the first table. */
function prepareFile(file: string): void {
  const client = new Client(file);
  client.pragma("auto_vacuum = INCREMENTAL");
  client.pragma("journal_mode = WAL");
  client.close();
}

async function migrateFile(client: Client.Database, report: Report): Promise<void> {
  // Foreign keys would delete a recreated table's children: off here, checked afterwards.
  client.pragma("foreign_keys = OFF");
  client.pragma("temp_store = MEMORY");
  const pending = listPending(client);
  if (pending.length === 0) return;
  const isNew = listTables(client).length === 1;
  if (!isNew) announce(client, pending, report);
  for (const migration of pending) {
    try {
      if (isNew) runAtOnce(client, migration);
      else await runBesideTraffic(client, migration, report);
    } catch (error) {
      throw failure(error, migration.tag, `file:${client.name}`);
    }
  }
  const broken = client.pragma("foreign_key_check") as unknown[];
  if (broken.length > 0) throw new Error(`Migration left ${broken.length} rows without their parent.`);
}

/** The table is drizzle's, so that versions from before this runner understand it. */
function listPending(client: Client.Database): Migration[] {
  client.exec(
    `CREATE TABLE IF NOT EXISTS "${migrationsTable}" ( id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric )`,
  );
  const newest = client.prepare(`SELECT max(created_at) FROM "${migrationsTable}"`).pluck().get();
  return readMigrations("sqlite").filter(({ when }) => when > Number(newest ?? 0));
}

function listTables(client: Client.Database): unknown[] {
  return client
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all();
}

/** Migrates an empty database, which nobody uses. */
function runAtOnce(client: Client.Database, migration: Migration): void {
  inTransaction(client, () => {
    execute(client, migration.tag, migration.statements);
    record(client, migration);
  });
}

function record(client: Client.Database, { hash, when }: Migration): void {
  client.prepare(`INSERT INTO "${migrationsTable}" (hash, created_at) VALUES (?, ?)`).run(hash, when);
}

async function runBesideTraffic(
  client: Client.Database,
  migration: Migration,
  report: Report,
): Promise<void> {
  const { tag, statements } = migration;
  const startedAt = performance.now();
  const { early, indexes, late } = planSqliteMigration(migration);
  const additions = early.filter((each) => !isDone(client, each));
  if (additions.length > 0) await inShortTransaction(client, () => execute(client, tag, additions));
  const updated = new Set(statements.flatMap((each) => (each.kind === "update" ? [each.table] : [])));
  for (const backfill of (backfills[tag] ?? []).filter(({ table }) => updated.has(table)))
    await fillInBatches(client, backfill);
  const rewrite = rewrites[tag];
  if (rewrite) await rewriteTable(client, rewrite, statements, report);
  for (const group of indexes) {
    if (isDone(client, group.at(-1) as Statement)) continue;
    await inShortTransaction(client, () =>
      execute(
        client,
        tag,
        group.filter((each) => !isDone(client, each)),
      ),
    );
  }
  await inShortTransaction(client, () => {
    execute(
      client,
      tag,
      late.filter((each) => !isDone(client, each)),
    );
    record(client, migration);
  });
  report(`${tag}: done in ${((performance.now() - startedAt) / secondMs).toFixed(1)} s`);
}

interface Plan {
  /** Short statements that only add. */
  early: Statement[];
  /** New indexes, each with the index that it replaces. */
  indexes: Statement[][];
  late: Statement[];
}

/** Exported for tests. */
function planSqliteMigration({ tag, statements }: Migration): Plan {
  const created = createdTables(statements);
  const rewritten = rewrites[tag]?.table;
  const filled = new Set((backfills[tag] ?? []).map(({ table }) => table));
  const built = new Set(statements.flatMap((each) => (each.kind === "create index" ? [each.name] : [])));
  const plan: Plan = { early: [], indexes: [], late: [] };
  for (const each of statements) {
    switch (each.kind) {
      case "create table":
        if (!each.table.startsWith("__new_")) plan.early.push(each);
        break;
      case "add column":
        plan.early.push(each);
        break;
      case "create index": {
        const old = statements.filter((other) => other.kind === "drop index" && other.name === each.name);
        if (created.has(each.table)) plan.early.push(each);
        else if (each.table !== rewritten) plan.indexes.push([...old, each]);
        break;
      }
      case "drop index":
        if (!built.has(each.name)) plan.late.push(each);
        break;
      case "update":
        if (!filled.has(each.table)) plan.late.push(each);
        break;
      case "insert":
        plan.late.push(each);
        break;
      default: // the steps of a rewrite
        if (!rewritten) throw new Error(`${tag} writes a table anew: declare it in rewrites.ts.`);
    }
  }
  return plan;
}
