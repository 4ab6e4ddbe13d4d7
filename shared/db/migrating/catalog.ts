import type { Client } from "pg";
import type { Statement } from "./statements.ts";

/** Returns true for a statement that an earlier run, which was killed, has run. */
export async function isDone(client: Client, statement: Statement): Promise<boolean> {
  switch (statement.kind) {
    case "create table":
      return exists(client, "SELECT WHERE to_regclass($1) IS NOT NULL", [named(statement.table)]);
    case "add column":
      return exists(
        client,
        "SELECT FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2 AND NOT attisdropped",
        [named(statement.table), statement.column],
      );
    case "add foreign key":
      return hasConstraint(client, statement.table, statement.name);
    case "create index":
      return (await findIndex(client, statement.name)) !== undefined;
    default:
      return false;
  }
}

export function hasConstraint(client: Client, table: string, name: string): Promise<boolean> {
  return exists(client, "SELECT FROM pg_constraint WHERE conrelid = to_regclass($1) AND conname = $2", [
    named(table),
    name,
  ]);
}

/** `invalid`: it was left unfinished. */
export async function findIndex(
  client: Client,
  name: string,
): Promise<{ table: string; isValid: boolean } | undefined> {
  const { rows } = await client.query<{ table: string; isValid: boolean }>(
    `SELECT relname AS table, indisvalid AS "isValid" FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
     WHERE indexrelid = to_regclass($1)`,
    [named(name)],
  );
  return rows[0];
}

export async function listTables(client: Client): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = quote_ident(current_schema())::regnamespace",
  );
  return new Set(rows.map(({ name }) => name));
}

async function exists(client: Client, query: string, values: string[]): Promise<boolean> {
  const { rowCount } = await client.query(query, values);
  return (rowCount ?? 0) > 0;
}

function named(name: string): string {
  return `"${name}"`;
}
