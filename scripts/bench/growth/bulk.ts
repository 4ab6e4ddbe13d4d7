import { closeSync, fsyncSync, openSync } from "node:fs";
import Client from "better-sqlite3";
import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Client as PostgresClient } from "pg";
import { isSqliteUrl, sqliteFile } from "../../../shared/db/open.ts";
import { postgresTables } from "../../../shared/db/postgres.ts";
import type { Tables } from "../../../shared/db/schema.ts";
import { sqliteTables } from "../../../shared/db/sqlite/open.ts";
import { onServer } from "../../scratch/databases.ts";

/** Inserts rows past the application: without indexes, which are made again at the end, and without durability. */
export interface Bulk {
  tables: Tables;
  insert<Table extends SQLiteTable>(table: Table, rows: Table["$inferSelect"][]): Promise<void>;
}

/** Call while no process uses the database. */
export async function insertInBulk<T>(databaseUrl: string, work: (bulk: Bulk) => Promise<T>): Promise<T> {
  if (isSqliteUrl(databaseUrl)) return insertIntoSqlite(sqliteFile(databaseUrl), work);
  return onServer(databaseUrl, (client) => insertIntoPostgres(client, work));
}

async function insertIntoSqlite<T>(file: string, work: (bulk: Bulk) => Promise<T>): Promise<T> {
  const client = new Client(file);
  client.pragma("journal_mode = OFF");
  client.pragma("synchronous = OFF");
  client.pragma("cache_size = -500000");
  client.pragma("temp_store = MEMORY");
  client.pragma("foreign_keys = OFF");
  const indexes = client
    .prepare<[], { name: string; sql: string }>(
      "select name, sql from sqlite_master where type = 'index' and sql is not null",
    )
    .all();

  for (const { name } of indexes) client.exec(`drop index "${name}"`);
  client.exec("begin");
  const result = await work({
    tables: sqliteTables,
    insert: async (table, rows) => insertRows(client, table, rows),
  });
  client.exec("commit");
  for (const { sql } of indexes) client.exec(sql);
  client.pragma("journal_mode = WAL");
  client.close();
  writeBack(file);
  return result;
}

/** Or the kernel would write gigabytes while the bench measures. */
function writeBack(file: string): void {
  const descriptor = openSync(file, "r+");
  fsyncSync(descriptor);
  closeSync(descriptor);
}

const statements = new WeakMap<Client.Database, Map<SQLiteTable, Client.Statement>>();

function insertRows(client: Client.Database, table: SQLiteTable, rows: Record<string, unknown>[]): void {
  const known = statements.get(client) ?? new Map<SQLiteTable, Client.Statement>();
  statements.set(client, known);
  const columns = Object.entries(getTableColumns(table));
  const marks = columns.map(() => "?").join(", ");
  const statement =
    known.get(table) ??
    client.prepare(`insert into "${getTableName(table)}" (${namesOf(table)}) values (${marks})`);
  known.set(table, statement);
  for (const row of rows)
    statement.run(
      columns.map(([key, column]) => (row[key] === null ? null : column.mapToDriverValue(row[key]))),
    );
}

async function insertIntoPostgres<T>(client: PostgresClient, work: (bulk: Bulk) => Promise<T>): Promise<T> {
  // Without checks of foreign keys. Only a superuser may say so; for others it takes longer.
  await client.query("set session_replication_role = replica").catch(() => {});
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
     where schemaname = current_schema() and indexname not in (select conname from pg_constraint)`,
  );

  for (const { name } of indexes) await client.query(`drop index "${name}"`);
  await client.query("begin");
  const result = await work({
    tables: postgresTables,
    async insert(table, rows) {
      if (rows.length === 0) return;
      const [name, columns] = [getTableName(table), namesOf(table)];
      await client.query(
        `insert into "${name}" (${columns}) select ${columns} from json_populate_recordset(null::"${name}", $1)`,
        [JSON.stringify(rows.map((row) => toJsonRow(table, row)))],
      );
    },
  });
  await client.query("commit");
  for (const { definition } of indexes) await client.query(definition);
  await client.query("vacuum analyze");
  await client.query("checkpoint").catch(() => {}); // a superuser's, too
  return result;
}

function namesOf(table: SQLiteTable): string {
  return Object.values(getTableColumns(table))
    .map(({ name }) => `"${name}"`)
    .join(", ");
}

function toJsonRow(table: SQLiteTable, row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(getTableColumns(table)).map(([key, { name }]) => {
    const value = row[key];
    return [name, Buffer.isBuffer(value) ? `\\x${value.toString("hex")}` : value];
  });
  return Object.fromEntries(entries);
}
