import Client from "better-sqlite3";
import type { SQL } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { drizzle as postgresProxy } from "drizzle-orm/pg-proxy";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { drizzle as sqliteProxy } from "drizzle-orm/sqlite-proxy";
import { Client as PostgresClient, type QueryConfig } from "pg";
import type { Dialect } from "../../../shared/db/columns.ts";
import type { Db, Tx } from "../../../shared/db/database.ts";
import { sqliteFile } from "../../../shared/db/open.ts";
import { postgresTables } from "../../../shared/db/postgres.ts";
import { hideValues } from "../../../shared/db/sqlite/hide-values.ts";
import { sqliteTables } from "../../../shared/db/sqlite/open.ts";

/** A database that runs nothing, but explains every statement that it gets. */
export interface Recorder {
  db: Db & Tx;
  /** The plans of the statements since the last call. */
  takePlans(): { statement: string; plan: string }[];
  explain: Explain;
  close(): Promise<void>;
}

type Explain = (statement: string, parameters: unknown[]) => Promise<string>;

export async function openRecorder(dialect: Dialect, url: string): Promise<Recorder> {
  const { explain, close } = dialect === "sqlite" ? openSqlite(url) : await openPostgres(url);
  let plans: { statement: string; plan: string }[] = [];
  const record = async (statement: string, parameters: unknown[]) => {
    plans.push({ statement, plan: await explain(statement, parameters) });
    return { rows: [] };
  };
  const queries = (dialect === "sqlite"
    ? hideValues(sqliteProxy(record))
    : postgresProxy(record)) as unknown as Tx;
  const tables = dialect === "sqlite" ? sqliteTables : (postgresTables as unknown as typeof sqliteTables);
  const db = {
    dialect,
    tables,
    now: new Date(),
    select: queries.select.bind(queries),
    insert: queries.insert.bind(queries),
    update: queries.update.bind(queries),
    delete: queries.delete.bind(queries),
    insertMany: async () => undefined,
    lock: (table: SQLiteTable | PgTable, where: SQL | undefined) =>
      queries
        .select()
        .from(table as SQLiteTable)
        .where(where),
  } as unknown as Db & Tx;
  return {
    db: Object.assign(db, { offLoop: db }),
    takePlans() {
      const taken = plans;
      plans = [];
      return taken;
    },
    explain,
    close,
  };
}

/** Records the statements of all databases of this process, each text with the values of its first run. */
export function recordStatements() {
  const statements = new Map<string, unknown[]>();
  const keep = (text: string, values: unknown[] = []) => {
    if (/^(select|insert|update|delete|with)\b/i.test(text) && !statements.has(text))
      statements.set(text, values);
  };

  const ofSqlite = Object.getPrototypeOf(new Client(":memory:").prepare("select 1"));
  const methods = ["run", "get", "all"] as const;
  const originals = methods.map((name) => ofSqlite[name]);
  for (const [index, name] of methods.entries())
    ofSqlite[name] = function (this: Client.Statement, ...values: unknown[]) {
      keep(this.source, Array.isArray(values[0]) ? values[0] : values);
      return originals[index].apply(this, values);
    };

  const { query: originalQuery } = PostgresClient.prototype;
  PostgresClient.prototype.query = function (
    this: PostgresClient,
    ...given: [QueryConfig | string, unknown[]?]
  ) {
    const [query, values] = given;
    if (typeof query === "string") keep(query, values);
    else keep(query.text, query.values ?? values);
    return originalQuery.apply(this, given as never);
  } as typeof originalQuery;

  return {
    statements,
    stop() {
      for (const [index, name] of methods.entries()) ofSqlite[name] = originals[index];
      PostgresClient.prototype.query = originalQuery;
    },
  };
}

function openSqlite(url: string): { explain: Explain; close: () => Promise<void> } {
  const client = new Client(sqliteFile(url));
  return {
    async explain(statement, parameters) {
      const rows = client.prepare(`EXPLAIN QUERY PLAN ${statement}`).all(parameters) as { detail: string }[];
      return rows.map(({ detail }) => detail).join("\n");
    },
    close: async () => void client.close(),
  };
}

async function openPostgres(url: string): Promise<{ explain: Explain; close: () => Promise<void> }> {
  const client = new PostgresClient({ connectionString: url });
  await client.connect();
  // Otherwise the sample of ANALYZE decides whether a scan is cheaper. Now one shows only where no index serves.
  await client.query("SET enable_seqscan = off");
  return {
    async explain(statement, parameters) {
      const { rows } = await client.query(`EXPLAIN ${statement}`, parameters);
      return rows.map((row: Record<string, string>) => row["QUERY PLAN"]).join("\n");
    },
    close: () => client.end(),
  };
}
