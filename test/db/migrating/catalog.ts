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

/** Tables, columns in their order, types, defaults, constraints and indexes, a line each. */
export async function readCatalog(url: string): Promise<string[]> {
  const rows = await query(url, isSqliteUrl(url) ? sqliteCatalog : postgresCatalog);
  return rows.map((row) => JSON.stringify(row).replaceAll(/(\\[nt]| )+/g, " ")).sort();
}

/** The migrations that are recorded, and what those wrote that does not differ by chance. */
export async function readResults(url: string): Promise<unknown> {
  return {
    migrations: (await query(url, "SELECT hash, created_at FROM schema_migrations ORDER BY created_at")).map(
      ({ hash, created_at }) => ({ hash, when: Number(created_at) }),
    ),
    settings: await query(url, "SELECT name FROM settings ORDER BY name"),
    jobs: await query(url, "SELECT id, step_id, position, type, state, scheduled_at FROM jobs ORDER BY id"),
    builds: await query(url, "SELECT id, is_paused, rebuild FROM builds ORDER BY id"),
    clusters: await query(url, "SELECT id, queue_count FROM clusters ORDER BY id"),
  };
}

const sqliteCatalog = "SELECT type, name, tbl_name, sql FROM sqlite_schema";

const postgresCatalog = `
  SELECT 'column' AS kind, relname AS of, attname AS name,
    jsonb_build_array(rank() OVER (PARTITION BY relname ORDER BY attnum), format_type(atttypid, atttypmod), attnotnull,
      pg_get_expr(adbin, adrelid))::text AS definition
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
