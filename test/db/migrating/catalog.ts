import Sqlite from "better-sqlite3";
import { Client } from "pg";
import { isSqliteUrl, sqliteFile } from "../../../shared/db/open.ts";

/** Runs statements of SQL, and returns the rows of the last. */
export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  if (isSqliteUrl(url)) {
    const client = new Sqlite(sqliteFile(url), { timeout: 10_000 });
    try {
      if (!/^\s*(select|with)/i.test(text)) return client.exec(text) && [];
      return client.prepare(text).all() as Record<string, unknown>[];
    } finally {
      client.close();
    }
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const result = await client.query(text);
    return (Array.isArray(result) ? result.at(-1) : result).rows;
  } finally {
    await client.end();
  }
}

/** Columns in any order, their types and defaults, constraints and indexes, a line each. */
export async function readCatalog(url: string): Promise<string[]> {
  const rows = await query(url, isSqliteUrl(url) ? sqliteCatalog : postgresCatalog);
  return rows.map((row) => JSON.stringify(row)).sort();
}

const tables = "SELECT name FROM sqlite_schema WHERE type = 'table'";
const sqliteCatalog = `
  SELECT 'column' AS kind, tables.name AS "of", details.name, type, "notnull", dflt_value, pk
  FROM (${tables}) AS tables, pragma_table_info(tables.name) AS details
  UNION ALL
  SELECT 'foreign key', tables.name, "from", "table", "to", on_delete, on_update
  FROM (${tables}) AS tables, pragma_foreign_key_list(tables.name)
  UNION ALL
  SELECT type, tbl_name, CASE WHEN sql IS NOT NULL THEN name END, sql, '', '', ''
  FROM sqlite_schema WHERE type <> 'table'`;

const postgresCatalog = `
  SELECT 'column' AS kind, relname AS of, attname AS name,
    jsonb_build_array(format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid))::text AS definition
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
  UNION ALL
  SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid) || ' ' || convalidated
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL
  SELECT 'index', indrelid::regclass::text, indexrelid::regclass::text,
    pg_get_indexdef(indexrelid) || ' ' || indisvalid || indisready
  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace = 'public'::regnamespace
  UNION ALL
  SELECT 'relation', relkind::text, relname, ''
  FROM pg_class WHERE relnamespace = 'public'::regnamespace`;
