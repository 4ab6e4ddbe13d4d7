import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { minuteMs } from "../../durations.ts";
import { readPostgresAddress } from "../postgres/address.ts";
import { sessionStatement } from "../postgres/session.ts";
import { type Backfill, backfills } from "./backfills.ts";
import { findIndex, isDone, listTables } from "./catalog.ts";
import { failure, MigrationFailed } from "./failed.ts";
import { type Migration, migrationsTable, readMigrations } from "./journal.ts";
import { fillInBatches, fillRequired, requiredCheck } from "./postgres-backfill.ts";
import { buildIndex } from "./postgres-indexes.ts";
import { type TableLocks, transactionWithLocks } from "./postgres-locks.ts";
import type { Report } from "./report.ts";
import { createdTables, type Statement, type StatementOf, shortText } from "./statements.ts";

/** Arbitrary; unique among programs on this database. */
const advisoryLock = 731_904_226;
const lockWaitMs = 10 * minuteMs;
const lockPollMs = 200;
/** For messages, which need no more of the address. */
const postgresUrl = "postgres:";

/**
 * Runs the pending migrations beside traffic. Each begins with a transaction that adds tables and columns, goes on
 * without locks (backfills in batches, indexes, validation), and ends with a transaction that drops what it replaces
 * and records it. A run that is killed anywhere is completed by the next: both transactions are whole or not there,
 * and the catalogue tells what else is done.
 */
export async function migratePostgres(url: string, report: Report): Promise<void> {
  const client = new Client({
    connectionString: readPostgresAddress(url).connectionString, // without limits: building an index may take hours
    connectionTimeoutMillis: 5000,
    application_name: "signalbox migrate",
  });
  client.on("error", () => {}); // a query fails with it too
  const lost = new Promise<never>((_, reject) =>
    client.once("end", () => reject(new Error("The connection to the database ended"))),
  );
  lost.catch(() => {});
  await client.connect();
  try {
    // A connection that breaks at a bad moment leaves its query without an answer.
    await Promise.race([migrateOn(client, report), lost]);
  } finally {
    await Promise.race([client.end(), lost.catch(() => {})]); // releases the lock
  }
}

async function migrateOn(client: Client, report: Report): Promise<void> {
  // If this machine stops, its locks must end.
  const { rows } = await client.query(
    "SELECT current_schema() AS schema, current_setting('server_encoding') AS encoding",
  );
  if (rows[0].schema === null)
    throw Object.assign(new Error("the search_path of the role names no schema that exists"), {
      code: "3F000",
    });
  if (rows[0].encoding !== "UTF8")
    throw new MigrationFailed(
      `The database has the encoding ${rows[0].encoding}, which cannot store all text: make one with ENCODING 'UTF8', and name it in DATABASE_URL.`,
    );
  await client.query(sessionStatement({ statement_timeout: 0, idle_in_transaction_session_timeout: 10_000 }));
  await waitForOthers(client, report);
  const pending = await listPending(client);
  const isNew = (await listTables(client)).size === 1;
  for (const migration of pending) {
    if (isNew) await runAtOnce(client, migration);
    else await runBesideTraffic(client, migration, report);
  }
}

/** One process migrates at a time. A query that waits would hold back the building of indexes, so it asks again. */
async function waitForOthers(client: Client, report: Report): Promise<void> {
  for (let waited = 0; waited < lockWaitMs; waited += lockPollMs) {
    const { rows } = await client.query("SELECT pg_try_advisory_lock($1) AS mine", [advisoryLock]);
    if (rows[0].mine) return;
    if (waited === 0) report("Another process migrates. Waiting for it.");
    await sleep(lockPollMs);
  }
  throw new MigrationFailed(
    "Another process has migrated for ten minutes. Wait for it, then run this again.",
  );
}

/** The table is drizzle's, so that versions from before this runner understand it. */
async function listPending(client: Client): Promise<Migration[]> {
  await client.query(
    `CREATE TABLE IF NOT EXISTS "${migrationsTable}" (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint)`,
  );
  const { rows } = await client.query(`SELECT max(created_at) AS newest FROM "${migrationsTable}"`);
  return readMigrations("postgres").filter(({ when }) => when > Number(rows[0].newest ?? 0));
}

/** Migrates an empty database, which nobody uses. */
async function runAtOnce(client: Client, migration: Migration): Promise<void> {
  await client.query("BEGIN");
  for (const statement of migration.statements) await run(client, migration, statement);
  await record(client, migration);
  await client.query("COMMIT");
}

async function runBesideTraffic(client: Client, migration: Migration, report: Report): Promise<void> {
  const startedAt = performance.now();
  const plan = planMigration(migration);
  report(`${migration.tag}: begins`);
  try {
    const early: Statement[] = [];
    for (const each of plan.early) if (!(await isDone(client, each))) early.push(each);
    if (early.length > 0)
      await transactionWithLocks(client, { locks: await locksOf(client, early), report }, async () => {
        for (const each of early) await run(client, migration, each);
      });
    for (const backfill of plan.backfills)
      await (backfill.required ? fillRequired : fillInBatches)(client, backfill, report);
    for (const { table, name } of plan.validated)
      await client.query(`ALTER TABLE "${table}" VALIDATE CONSTRAINT "${name}"`);
    for (const index of plan.indexes) await buildIndex(client, index, report);
    await transactionWithLocks(client, { locks: await locksOf(client, plan.late), report }, async () => {
      for (const each of plan.late) await run(client, migration, each);
      for (const text of plan.last) await client.query(text);
      await record(client, migration);
    });
  } catch (error) {
    throw failure(error, migration.tag, postgresUrl);
  }
  report(`${migration.tag}: done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}

interface Plan {
  /** Short statements that only add. */
  early: Statement[];
  backfills: Backfill[];
  /** Foreign keys of tables that exist already. */
  validated: StatementOf<"add foreign key">[];
  indexes: { name: string; text: string }[];
  /** Short statements that drop, or depend on the rest. */
  late: Statement[];
  /** Late statements of the runner's own. */
  last: string[];
}

/** Exported for tests. */
function planMigration({ tag, statements }: Migration): Plan {
  const created = createdTables(statements);
  const own = backfills[tag] ?? [];
  const dropped = new Set(statements.flatMap((each) => (each.kind === "drop index" ? [each.name] : [])));
  const plan: Plan = { early: [], backfills: own, validated: [], indexes: [], late: [], last: [] };
  for (const each of statements) {
    switch (each.kind) {
      case "create table":
      case "add column":
      case "drop not null":
        plan.early.push(each);
        break;
      case "add foreign key":
        if (created.has(each.table)) plan.early.push(each);
        else {
          plan.early.push({ ...each, text: each.text.replace(/;?$/, " NOT VALID") });
          plan.validated.push(each);
        }
        break;
      case "create index":
        if (created.has(each.table)) plan.early.push(each);
        else if (dropped.has(each.name)) {
          const name = `${each.name}__next`;
          plan.indexes.push({ name, text: each.text.replace(`"${each.name}"`, `"${name}"`) });
          plan.last.push(`ALTER INDEX "${name}" RENAME TO "${each.name}"`);
        } else plan.indexes.push(each);
        break;
      case "update":
        if (!own.some(({ table }) => table === each.table)) plan.late.push(each);
        break;
      case "set not null":
        plan.late.push(each);
        plan.last.push(
          `ALTER TABLE "${each.table}" DROP CONSTRAINT IF EXISTS "${requiredCheck(each.table, each.column)}"`,
        );
        break;
      default:
        plan.late.push(each);
    }
  }
  return plan;
}

/** Returns the locks of the tables that exist already. */
async function locksOf(client: Client, statements: Statement[]): Promise<TableLocks> {
  const there = await listTables(client);
  const locks: TableLocks = new Map();
  const add = (table: string | undefined, strength: "everything" | "writes") => {
    if (!table || !there.has(table)) return;
    locks.set(table, locks.get(table) === "everything" ? "everything" : strength);
  };
  for (const each of statements) {
    if (each.kind === "insert" || each.kind === "foreign keys on or off") continue;
    if (each.kind === "drop index") add((await findIndex(client, each.name))?.table, "everything");
    else if (each.kind === "add foreign key") {
      add(each.table, "writes");
      add(each.references, "writes");
    } else add(each.table, each.kind === "update" ? "writes" : "everything");
  }
  return locks;
}

async function run(client: Client, { tag }: Migration, statement: Statement): Promise<void> {
  try {
    // The session has one schema, which need not be the one that drizzle names.
    await client.query(statement.text.replaceAll('"public".', ""));
  } catch (error) {
    throw failure(error, `${tag}, ${shortText(statement)}`, postgresUrl);
  }
}

async function record(client: Client, { hash, when }: Migration): Promise<void> {
  await client.query(`INSERT INTO "${migrationsTable}" (hash, created_at) VALUES ($1, $2)`, [hash, when]);
}
